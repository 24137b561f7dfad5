"""Masks as people have them, written by the libraries that people use, each with what it is.

`python -m tests.tfm_core.clinic.corpus` counts how many are read rightly, asked openly, refused, and read wrongly.
"""

import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from safetensors.numpy import save
from safetensors.torch import save as save_tensors
from torch import nn

from tfm_core.clinic import Meaning, read, reading_as

RIGHT, ASKED, REFUSED, WRONG = "read rightly", "openly asked", "refused with a reason", "wrong"

CAUSAL = np.tri(6, dtype=bool)  # 21 pairs
WINDOW = CAUSAL & ~np.tri(6, k=-3, dtype=bool)  # 15
BLOCKS = np.kron(np.eye(2, dtype=bool), np.ones((3, 3), bool))  # 18
LENGTHS = np.arange(6) < np.array([[6], [4], [2]])  # three sentences, 12 keys
CACHE = np.tri(3, 7, 4, dtype=bool)  # three queries after four keys: 18
TOKENS = ["the", "cat", "sat", "on", "the", "mat"]
EMPTY = ~CAUSAL | (np.arange(6) == 3)[:, None]  # True = ignore; the fourth row has no key, 17 pairs are left
PRINTED = {"threshold": sys.maxsize, "linewidth": 75}


@dataclass(frozen=True)
class Case:
    """An input and what it is.

    Attributes:
        data: the file's bytes or the text.
        meaning: what was meant; None if the right answer is a refusal.
        visible: how many pairs may attend, of all tables together; 0 for weights and ids.
        tables: how many tables there are.
        labels: the tokens that the file names.
        says: what is in `why`, the notes or the names, or in the refusal.
        with_: other meanings that have to stay open.
    """

    data: bytes | str
    meaning: Meaning | None = "attend"
    visible: int = 21
    tables: int = 1
    labels: Sequence[str] = ()
    says: str = ""
    with_: Sequence[Meaning] = ()


def npy(values: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, values, version)
    return file.getvalue()


def npz(write: Callable[..., None] = np.savez, /, *arrays: np.ndarray, **named: np.ndarray) -> bytes:
    file = io.BytesIO()
    write(file, *arrays, **named)
    return file.getvalue()


def saved_text(values: np.ndarray, **how: str) -> str:
    file = io.StringIO()
    np.savetxt(file, values, **how)
    return file.getvalue()


def frame(mask: np.ndarray = CAUSAL, names: Sequence[object] | None = None) -> pd.DataFrame:
    return pd.DataFrame(mask.astype(int), names, names)


def minus_inf(mask: np.ndarray, low: float = -np.inf, dtype: str = "float32") -> np.ndarray:
    return np.where(mask, 0, low).astype(dtype)


def alibi(slope: float = 0.5) -> np.ndarray:
    """A causal mask with a bias that falls by distance, to be added."""
    distance = np.arange(6)[:, None] - np.arange(6)
    return np.where(CAUSAL, -slope * distance, -np.inf).astype(np.float32)


def weights(*shape: int) -> torch.Tensor:
    scores = torch.randn(*shape, 6, 6, generator=torch.Generator().manual_seed(0))
    return scores.masked_fill(~torch.from_numpy(CAUSAL), -torch.inf).softmax(-1)


def drawing(sees: str, hides: str, between: str = " ", mask: np.ndarray = WINDOW) -> str:
    return "\n".join(between.join(sees if cell else hides for cell in row) for row in mask)


def with_names(drawn: str) -> str:
    return "\n".join(
        f"{name:>4} {row}: {line}" for row, (name, line) in enumerate(zip(TOKENS, drawn.splitlines(), strict=True))
    )


def matlab(mask: np.ndarray) -> str:
    return "A = [" + ";\n".join(", ".join("01"[cell] for cell in row) for row in mask.tolist()) + "];"


def stacked(mask: np.ndarray, *shape: int) -> np.ndarray:
    return np.broadcast_to(mask, (*shape, *mask.shape)).copy()


def sequences() -> np.ndarray:
    """(sentence, 1, query, key): causal, and the padding of each sentence hidden; 21, 18 and 11 pairs."""
    return (CAUSAL & LENGTHS[:, None, :])[:, None]


ROWS = CAUSAL.astype(int).tolist()
TORCH = torch.from_numpy(CAUSAL)
ODD_NAMES = ["a,b", '"', "c", "[CLS]", "7", "é"]
MARKDOWN = "\n".join(
    ["|   | " + " | ".join(TOKENS) + " |", "|---" * 7 + "|"]
    + [f"| {name} | " + " | ".join(map(str, row)) + " |" for name, row in zip(TOKENS, ROWS, strict=True)]
)
MIXED = "0.0 -10000.0 -65504.0 -1e9\n-0.5 0.0 -9999.0 -inf\n-1.0 -0.5 0.0 -3.4e38\n-1.5 -1.0 -0.5 0.0"
IDS = np.array([[101, 7592, 2088, 102, 0, 0], [101, 2023, 2003, 1037, 3231, 102]])
ENCODED = {"input_ids": IDS.tolist(), "attention_mask": (IDS != 0).astype(int).tolist()}
BETWEEN_ROWS = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])

with np.printoptions(**PRINTED):
    NUMPY_TEXTS = {
        "NumPy, booleans": Case(repr(CAUSAL)),
        "NumPy, printed": Case(str(CAUSAL.astype(int))),
        "NumPy, int32 named": Case(repr(CAUSAL.astype(np.int32))),
        "NumPy, float32, 0 and 1": Case(repr(CAUSAL.astype(np.float32)), says=".bool()", with_=["added"]),
        "NumPy, added": Case(repr(minus_inf(CAUSAL)), "added"),
        "NumPy, lowest float32": Case(repr(minus_inf(CAUSAL, np.finfo(np.float32).min)), "added", says="as good as −∞"),
        "NumPy, lowest float16": Case(repr(minus_inf(CAUSAL, -65504, "float16")), "added", says="−65500"),
        "NumPy, four axes": Case(repr(CAUSAL[None, None])),
        "NumPy, four equal heads": Case(repr(stacked(CAUSAL, 1, 4)), says="All 4 tables are equal"),
        "NumPy, scalars in a list": Case(repr([[*row] for row in CAUSAL])),
    }

CSV = {
    "pandas, names of columns": Case(frame().to_csv(index=False), says="column names"),
    "pandas, names of both": Case(frame().to_csv()),
    "pandas, index alone": Case(frame().to_csv(header=False), says="row names"),
    "pandas, neither": Case(frame().to_csv(index=False, header=False)),
    "pandas, an index written twice": Case(pd.read_csv(io.StringIO(frame().to_csv())).to_csv()),
    "pandas, Unnamed: 0": Case(pd.read_csv(io.StringIO(frame().to_csv())).to_csv(index=False)),
    "pandas, tokens": Case(frame(names=TOKENS).to_csv(), labels=TOKENS),
    "pandas, tokens with commas": Case(frame(names=ODD_NAMES).to_csv(), labels=ODD_NAMES),
    "pandas, tokens of columns": Case(frame(names=TOKENS).to_csv(index=False), labels=TOKENS),
    "pandas, tokens of rows": Case(frame(names=TOKENS).to_csv(header=False), labels=TOKENS),
    "pandas, semicolons": Case(frame().to_csv(sep=";")),
    "pandas, tabs": Case(frame(names=TOKENS).to_csv(sep="\t"), labels=TOKENS),
    "pandas, booleans": Case(pd.DataFrame(CAUSAL).to_csv()),
    "pandas, floats": Case(pd.DataFrame(CAUSAL.astype(float)).to_csv(), with_=["added"]),
    "pandas, −∞": Case(pd.DataFrame(minus_inf(CAUSAL)).to_csv(index=False), "added"),
    "pandas, UTF-16": Case(frame(names=TOKENS).to_csv(sep="\t").encode("utf-16"), labels=TOKENS),
    "pandas, BOM": Case(frame().to_csv().encode("utf-8-sig")),
    "pandas, printed": Case(frame().to_string()),
    "pandas, tokens printed": Case(frame(names=TOKENS).to_string(), labels=TOKENS),
    "pandas, [CLS] printed": Case(frame(names=["[CLS]", *TOKENS[1:]]).to_string(), labels=["[CLS]", *TOKENS[1:]]),
    "pandas, ids": Case(pd.DataFrame(IDS).to_csv(index=False), "token ids", visible=0),
    "pandas, JSON by column": Case(frame().to_json()),
    "pandas, JSON split": Case(frame(names=list("uvwxyz")).to_json(orient="split"), labels="uvwxyz"),
    "pandas, JSON records": Case(frame().to_json(orient="records")),
    "pandas, window": Case(frame(WINDOW).to_csv(index=False), visible=15),
    "Excel, CRLF": Case(frame().to_csv(sep=";", lineterminator="\r\n")),
    "Excel, TRUE": Case(pd.DataFrame(CAUSAL).to_csv(index=False, header=False).upper()),
    "NumPy, savetxt": Case(saved_text(CAUSAL), with_=["added"]),
    "NumPy, savetxt of whole numbers": Case(saved_text(CAUSAL, fmt="%d", delimiter=",", header="causal mask")),
    "cache, three queries": Case(frame(CACHE).to_csv(index=False), visible=18, says="keys of the past"),
    "a decimal comma": Case("0,0;-1,5\n0,0;0,0", None, says="Row 1, column 1"),
    "a decimal comma, tabs": Case("0\t-1,5\n0\t0", None, says="Row 1, column 2"),
}

FILES = {
    "npy, booleans": Case(npy(CAUSAL)),
    "npy, whole numbers": Case(npy(CAUSAL.astype("<i8"))),
    "npy, bytes": Case(npy(CAUSAL.astype(np.uint8))),
    "npy, 0 and 255": Case(npy(255 * CAUSAL.astype(np.uint8)), says="255 is taken as 1"),
    "npy, big-endian floats": Case(npy(minus_inf(CAUSAL).astype(">f4")), "added"),
    "npy, Fortran order": Case(npy(np.asfortranarray(CAUSAL))),
    "npy, version 2": Case(npy(CAUSAL, (2, 0))),
    "npy, version 3": Case(npy(CAUSAL, (3, 0))),
    "npy, float16, −1e4": Case(npy(minus_inf(CAUSAL, -1e4, "float16")), "added", says="−10000"),
    "npy, float32, 0 and 1": Case(npy(np.tril(np.ones((6, 6), np.float32))), says=".bool()", with_=["added"]),
    "npy, float32, strictly upper": Case(npy(np.triu(np.ones((6, 6), np.float32), 1)), "ignore", with_=["added"]),
    "npy, True = ignore": Case(npy(~CAUSAL), "ignore", says="nn.MultiheadAttention"),
    "npy, True = ignore, an empty row": Case(npy(EMPTY), "ignore", visible=17, with_=["attend"]),
    "npy, −9999": Case(npy(minus_inf(CAUSAL, -9999, "float64")), "added", says="−9999"),
    "npy, ALiBi": Case(npy(alibi()), "added", says="a bias"),
    "npy, a bias alone": Case(npy(-0.5 * np.abs(np.arange(6.0)[:, None] - np.arange(6))), "added", visible=36),
    "npy, weights": Case(
        npy(weights(2, 1, 3).numpy()), "weights", visible=0, tables=6, says="layer 2 of 2, head 3 of 3"
    ),
    "npy, weights in half": Case(npy(weights(3).half().numpy()), "weights", visible=0, tables=3),
    "npy, batch and heads": Case(npy(stacked(CAUSAL, 3, 4)), says="All 12 tables are equal"),
    "npy, batch times heads": Case(npy(np.repeat(sequences()[:, 0], 2, 0)), visible=2 * (21 + 18 + 11), tables=6),
    "npy, sentences": Case(npy(sequences()), visible=21 + 18 + 11, tables=3, says="sentence 2 of 3"),
    "npy, padding, four axes": Case(npy(LENGTHS[:, None, None]), visible=12),
    "npy, padding": Case(npy(LENGTHS.astype(int)), visible=12, says="padding at the end is hidden"),
    "npy, key_padding_mask": Case(npy(~LENGTHS), "ignore", visible=12, says="key_padding_mask", with_=["attend"]),
    "npy, heads last": Case(npy(np.stack([CAUSAL, WINDOW], -1)), visible=36, tables=2, says="square pair"),
    "npy, twelve heads last": Case(npy(np.moveaxis(weights(12).numpy(), 0, -1)), "weights", visible=0, tables=12),
    "npy, heads between": Case(npy(np.moveaxis(weights(4).numpy(), 0, 1)), "weights", visible=0, tables=4),
    "npy, batch first and heads last": Case(npy(sequences().transpose(0, 2, 3, 1)), visible=50, tables=3),
    "npy, ids": Case(npy(IDS), "token ids", visible=0),
    "npy, a row of ids": Case(npy(IDS[0]), "token ids", visible=0),
    "npy, blocks": Case(npy(BLOCKS), visible=18),
    "npy, objects": Case(npz(np.save, np.array([[1, None]])), None, says="Python objects"),
    "npz, the only array": Case(npz(np.savez, CAUSAL)),
    "npz, compressed": Case(npz(np.savez_compressed, mask=CAUSAL)),
    "npz, beside ids": Case(npz(ids=IDS, attn_mask=CAUSAL), says="“attn_mask” is read"),
    "npz, the only table": Case(npz(lengths=np.array([6, 4]), causal=CAUSAL), says="“causal” is read"),
    "npz, tokens": Case(npz(mask=CAUSAL, tokens=np.array(TOKENS)), labels=TOKENS),
    "npz, layers": Case(npz(**{f"layer_{i}": weights(2).numpy() for i in (0, 1)}), "weights", visible=0, tables=4),
    "npz, two tables": Case(npz(a=CAUSAL, b=WINDOW), None, says="“a”, “b”"),
    "safetensors, the only tensor": Case(save({"x": CAUSAL})),
    "safetensors, bfloat16": Case(save_tensors({"mask": torch.from_numpy(minus_inf(CAUSAL)).bfloat16()}), "added"),
    "safetensors, float16": Case(save({"mask": minus_inf(CAUSAL, -65504, "float16")}), "added"),
    "safetensors, among weights": Case(
        save({"attn.mask": CAUSAL, "bias": np.zeros(3)[:1], "w": np.ones(4)}), says="is read"
    ),
    "torch.save": Case(npz(lambda file: torch.save(TORCH, file)), None, says="np.save"),
}

TEXTS = {
    "torch, booleans": Case(repr(TORCH)),
    "torch, whole numbers": Case(repr(TORCH.long())),
    "torch, floats": Case(repr(TORCH.float()), says=".bool()", with_=["added"]),
    "torch, half": Case(repr(torch.from_numpy(minus_inf(CAUSAL, -1e4)).half()), "added"),
    "torch, −1e9": Case(repr(torch.from_numpy(minus_inf(CAUSAL, -1e9))), "added"),
    "torch, a Transformer's": Case(repr(nn.Transformer.generate_square_subsequent_mask(6)), "added"),
    "torch, a parameter": Case(repr(nn.Parameter(torch.from_numpy(minus_inf(CAUSAL)))), "added"),
    "torch, with a gradient": Case(repr(weights(2).requires_grad_() * 1), "weights", visible=0, tables=2),
    "torch, on a device": Case(repr(TORCH.float())[:-1] + ", device='cuda:0', dtype=torch.float16)", with_=["added"]),
    "torch, weights of layers": Case(repr((weights(1, 3), weights(1, 3))), "weights", visible=0, tables=6),
    "torch, batch of an encoder": Case(
        repr({name: torch.tensor(rows) for name, rows in ENCODED.items()}), visible=10, says="“attention_mask” is read"
    ),
    "torch, assigned": Case(f"mask = torch.{TORCH!r}"),
    "torch, printed rows": Case("\n".join(map(repr, TORCH))),
    "torch, shortened": Case(
        "tensor([[1, 0, 0,  ..., 0, 0, 0],\n        [1, 1, 0,  ..., 0, 0, 0]])", None, says="set_printoptions"
    ),
    "a console": Case(f">>> mask\n{TORCH!r}"),
    "a notebook": Case(f"In [3]: mask\nOut[3]: \n{TORCH!r}"),
    "TensorFlow, printed": Case(
        f"tf.Tensor(\n{CAUSAL.astype(np.float32)}, shape=(6, 6), dtype=float32)", with_=["added"]
    ),
    "TensorFlow": Case(f"<tf.Tensor: shape=(6, 6), dtype=bool, numpy=\n{CAUSAL!r}>"),
    "JAX": Case("Array(" + repr(CAUSAL).removeprefix("array(")[:-1] + ", dtype=bool)"),
    "lists": Case(repr(CAUSAL.tolist())),
    "tuples": Case(repr(tuple(map(tuple, ROWS)))),
    "JSON": Case(json.dumps(CAUSAL.tolist())),
    "JSON, −Infinity": Case(json.dumps(minus_inf(CAUSAL).tolist()), "added"),
    "lists of Python's infinities": Case(repr(minus_inf(CAUSAL).tolist()).replace("-inf", "-float('inf')"), "added"),
    "YAML": Case("mask:\n" + "\n".join(f"- {row}" for row in ROWS)),
    "C": Case("int mask[6][6] = " + repr(ROWS).replace("[", "{").replace("]", "}") + ";"),
    "a title": Case("causal mask:\n" + "\n".join(" ".join(map(str, row)) for row in ROWS)),
    "JSON, mask and tokens": Case(json.dumps({"tokens": TOKENS, "mask": ROWS}), labels=TOKENS),
    "JSON, of a tokenizer": Case(json.dumps(ENCODED), visible=10),
    "JSON, null": Case(json.dumps([[1, None], [1, 1]]), None, says="Row 1, column 2 is “null”"),
    "Matlab": Case(matlab(CAUSAL)),
    "Julia": Case("6×6 BitMatrix:\n" + "\n".join("  ".join(map(str, row)) for row in ROWS)),
    "digits": Case("\n".join("".join(map(str, row)) for row in ROWS)),
    "Markdown": Case(MARKDOWN, labels=TOKENS),
    "mixed lows": Case(MIXED, "added", visible=10, says="a bias"),
    "fewer queries than keys": Case(repr(BETWEEN_ROWS.tolist()), visible=5, says="is_causal=True"),
    "shares": Case("0.2, 0.3, 0.5", "weights", visible=0),
    "code, True = ignore": Case("torch.triu(torch.ones(n, n), diagonal=1).bool()", "ignore"),
    "code, added": Case("torch.full((n, n), float('-inf')).triu(1)", "added"),
    "squares": Case(drawing("■", "⬚"), visible=15),
    "squares with names": Case(with_names(drawing("■", "⬚")), visible=15, labels=TOKENS),
    "squares in colours": Case(with_names(drawing("\x1b[92m■\x1b[0m", "⬚")), visible=15, labels=TOKENS),
    "two drawings": Case(
        "\n".join(f"{line}    |    {line}" for line in drawing("■", "⬚").splitlines()), visible=15, says="left"
    ),
    "shades": Case(drawing("█", "░", ""), visible=15),
    "crosses": Case(drawing("x", "."), visible=15),
    "hashes with names": Case(with_names(drawing("#", ".")), visible=15, labels=TOKENS),
    "ticks": Case(drawing("✓", "✗"), visible=15),
    "emoji": Case(drawing("🟩", "🟥", ""), visible=15),
    "blocks of two signs": Case(drawing("██", "░░", ""), visible=15, says="two signs"),
    "green and black": Case(drawing("🟩", "⬛", ""), visible=15),
    "squares, names after them": Case(
        "\n".join(f"{row}  # a row" for row in drawing("■", "⬚").splitlines()), visible=15
    ),
    "letters": Case(drawing("T", "F"), visible=15),
    "black squares that hide": Case(drawing("⬜", "⬛", "", CAUSAL), "ignore", with_=["attend"]),
}

CORPUS = NUMPY_TEXTS | CSV | FILES | TEXTS


def outcome(case: Case) -> str:
    """What becomes of an input: `RIGHT`, `ASKED`, `REFUSED` or `WRONG`."""
    try:
        reading = read(case.data)
    except ValueError as problem:
        return REFUSED if case.meaning is None and case.says in str(problem) else WRONG
    if case.meaning not in reading.alternatives:
        return WRONG
    meant = reading_as(reading, case.meaning)
    is_right = (
        len(meant.tables) == case.tables
        and sum(int(mask.sum()) for mask in meant.visible) == case.visible
        and meant.labels == tuple(case.labels)
        and case.says in " ".join((reading.why, *reading.notes, *reading.names))
        and {*case.with_} <= {*reading.alternatives}
    )
    return WRONG if not is_right else RIGHT if reading.meaning == case.meaning else ASKED


def counted() -> Counter[str]:
    """How many inputs come to what."""
    return Counter(map(outcome, CORPUS.values()))


if __name__ == "__main__":
    said = counted()
    sys.stdout.write(
        f"of {len(CORPUS)} inputs: {', '.join(f'{what} {said[what]}' for what in (RIGHT, ASKED, REFUSED, WRONG))}\n"
    )
    for name, case in CORPUS.items():
        if outcome(case) in (WRONG, ASKED):
            sys.stdout.write(f"{outcome(case)}: {name}\n")
