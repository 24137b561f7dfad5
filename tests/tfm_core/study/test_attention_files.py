"""Files of attention weights that are damaged, or mean harm: read, or refused by a sentence, and within bounds."""

import io
import json
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from tests.tfm_core.study.test_attention_arrays import archive, drawn, npy, npz, refusal
from tfm_core.study.attention_arrays import read_attention
from tfm_core.study.attention_files import MOST_BYTES, MOST_ENTRIES, MOST_JSON, MOST_NUMBERS, MOST_UNPACKED

SMALL = drawn(1, 2, 2, 2, 2)
FILES = {
    "npy": npy(SMALL.astype("f4")),
    "npz": npz(attentions=SMALL.astype("f4"), tokens=np.array(["a", "b"]), compressed=True),
    "safetensors": save({"layer_0": torch.from_numpy(SMALL[0])}, {"tokens": '["a", "b"]'}),
    "json": json.dumps({"attentions": SMALL.tolist(), "tokens": ["a", "b"]}).encode(),
}


def crafted(descr="'<f4'", shape="(2, 2)", order="False", data=b"\0" * 16) -> bytes:
    """A .npy whose header says what it likes."""
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize("ending", FILES)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_by_a_sentence(ending, data):
    content = bytearray(FILES[ending])
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    if content:
        for _ in range(data.draw(st.integers(0, 2))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    check_total(bytes(content), f"x.{ending}")


@pytest.mark.parametrize("ending", FILES)
def test_each_byte_may_be_damaged_and_each_end_be_missing(ending):
    content = FILES[ending]
    read_attention(content, "")
    for place in range(len(content)):
        check_total(content[:place], f"x.{ending}")
        for other in {0, 0xFF, content[place] ^ 1, content[place] ^ 0x20, ord("9"), ord("["), ord("'")}:
            check_total(content[:place] + bytes([other]) + content[place + 1 :], f"x.{ending}")


@given(st.binary(max_size=60), st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY\x01\0", b"[[", b'{"weights":']))
def test_anything_else_is_refused_by_a_sentence(content, begin):
    check_total(begin + content, "x")


def check_total(content, name):
    said = ""
    try:
        attention = read_attention(content, name)
    except ValueError as problem:
        said = f"{type(problem).__name__}: {problem}"
    if said:
        assert said.startswith("ValueError: expected")
        assert "got" in said
    else:
        assert attention.weights.isfinite().all()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (crafted(shape="(1000000, 10000000)"), "at most 16,777,216 numbers, got 1,000,000 × 10,000,000"),
        (crafted(shape=f"({'9' * 5000}, 2)"), "sizes of axes"),
        (crafted(shape="(-1, 2)"), "sizes of axes"),
        (crafted(shape="(2, 0)"), "at least one number"),
        (crafted(shape="()"), "a single number"),
        (crafted(shape="(1, 2, 3, 4, 5, 6)"), "2 to 5 axes"),
        (crafted(shape="(2, 3)"), "expected 24 bytes of numbers, got 16"),
        (crafted(shape="(1.5, 2)"), "sizes of axes"),
        (crafted(shape="[2, 2]"), "names descr"),
        (crafted(order="__import__('os')"), "names descr"),
        (crafted(descr="[('a', '<f4'), ('b', '<f4')]"), "structured"),
        (crafted(descr="'|O'"), "Python objects"),
        (crafted(descr="'<f16'"), "<f16"),
        (crafted(descr="'|V2'"), "bfloat16"),
        (crafted(descr="(" * 5000), "names descr"),
        (crafted(descr="'" + "x" * 20000 + "'"), "at most 10,000 bytes"),
        (b"\x93NUMPY\x09\0" + b"\0" * 20, "version 1, 2 or 3"),
        (npy(np.eye(2).astype(object), allow_pickle=True), "Python objects"),
        (pickle.dumps(np.eye(2)), "a pickle"),
        (b"PK\x03\x04", "cannot be read"),
        (archive(), "without any"),
        (archive(zipfile.ZIP_BZIP2, a=npy(np.eye(2))), "another compression"),
        (archive(zipfile.ZIP_LZMA, a=npy(np.eye(2))), "another compression"),
        (archive(a=b"no array"), "version 1, 2 or 3"),
        (archive(**{f"x{place}": b"" for place in range(MOST_ENTRIES + 1)}), "at most 2,000 arrays"),
        (archive(a=npy(np.eye(2)).ljust(MOST_UNPACKED + 1, b"\0")), "bytes unpacked, got more"),
        (b"[" * 100_000, "got hundreds"),
        (b"[" * 100_000 + b"]" * 100_000, "got hundreds"),
        (b'{"weights":' * 100_000, "got hundreds"),
        (b"[[NaN, 1], [0, 1]]", "got NaN at layer 1, head 1, query 1, key 1"),
        (b"[[1e999, 1], [0, 1]]", "got inf"),
        (b"[[1, " + b"9" * 5000 + b"]]", "cannot be read as such"),
        (b"[[1, 0], [1, 0]", "cannot be read as such"),
        (b"{}", "got nothing"),
        (b'{"weights": "x"}', "the text “x”"),
        (b'{"attention": [{"attn": 3}]}', "a number"),
        (b"[" + b" " * MOST_JSON, "JSON of at most"),
        (b"[" + b"[]," * 2**19 + b"[]]", "at most 524,288 lists"),
        ("[[“1”]]".encode("utf-16"), "begin as none"),
        (b"", "0 bytes"),
        (bytes(MOST_BYTES + 1), "at most 68,157,440 bytes"),
        (struct.pack("<Q", 5 * 2**20) + b"{" + bytes(5 * 2**20), "header has at most"),
        (struct.pack("<Q", 2) + b"{}", "without any"),
        (struct.pack("<Q", 20_000) + b'{"' + b"[" * 19_998, "cannot be read"),
        (save({"w": torch.zeros(2, 2, dtype=torch.complex64)}), "complex64"),
        (save({"w": torch.zeros(0, 2, 2)}), "at least one number"),
        (save({"tokens": torch.eye(2)}), "none"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_mean_harm_are_refused(content, says):
    tracemalloc.start()
    try:
        assert says in refusal(read_attention, content, "x")
        assert tracemalloc.get_traced_memory()[1] < 2.5 * MOST_UNPACKED
    finally:
        tracemalloc.stop()


def test_a_torch_file_is_a_pickle():
    file = io.BytesIO()
    torch.save(torch.eye(2), file)
    assert "torch.save" in refusal(read_attention, file.getvalue(), "x.pt")
    assert "pickle" in refusal(read_attention, b"no zip", "x.pt")
    assert "as a .npy file does" in refusal(read_attention, b"no npy", "x.npy")


def test_as_many_numbers_as_may_be_are_read():
    side = int(MOST_NUMBERS**0.5)
    attention = read_attention(npy(np.full((side, side), 1 / side, "f4")), "x.npy")
    assert attention.weights.numel() == MOST_NUMBERS


def test_booleans_of_other_bytes_are_true():
    loaded = bytearray(save({"w": torch.eye(2, dtype=torch.bool)}))
    loaded[-1] = 7
    assert read_attention(bytes(loaded), "").weights[0, 0, 0].equal(torch.eye(2))
    assert read_attention(crafted("'|b1'", data=b"\1\0\0\7"), "").weights[0, 0, 0].equal(torch.eye(2))


def test_layers_of_a_file_are_counted_together(tmp_path):
    even = np.full((2, 2048, 2048), 1 / 2048, np.float16)  # each layer alone is allowed
    np.savez_compressed(tmp_path / "layers.npz", **{f"layer_{i}": even for i in range(3)})
    with pytest.raises(ValueError, match="at most 16,777,216 numbers"):
        read_attention((tmp_path / "layers.npz").read_bytes(), "layers.npz")
