"""Folders with checkpoints: what lies in them is there by name, and whatever is wrong with a file is a sentence."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save, save_file
from torch import Tensor

from tests.tfm_core.pretrained.checkpoints import made, saved
from tfm_core.pretrained import checkpoint
from tfm_core.pretrained.checkpoint import CONFIG, INDEX, WEIGHTS, check_finite, open_checkpoint

FLOAT, LONG = b"\0\0\x80?", (2**62).to_bytes(8, "little")
# Of two numbers each or more: [1] with a space for its digit is as right, and a number alone.
SMALL = save({"a": torch.arange(6.0).view(2, 3), "b": torch.ones(2, dtype=torch.int64)})
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def raw(header: Any, data: bytes = FLOAT, *, length: int | None = None) -> bytes:
    """A file of the format safetensors with this header, whatever it says."""
    written = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(written) if length is None else length).to_bytes(8, "little") + written + data


def about(shape: list[Any], start: int, end: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def folder_with(folder: Path, weights: bytes | None = SMALL, config: bytes = b"{}", **files: bytes) -> Path:
    """A folder with these files; `files` are shards by their place in SHARDS' names, such as first=b"..."."""
    folder.mkdir(exist_ok=True)
    (folder / CONFIG).write_bytes(config)
    if weights is not None:
        (folder / WEIGHTS).write_bytes(weights)
    for name, content in files.items():
        (folder / {"first": SHARDS[0], "second": SHARDS[1], "index": INDEX}[name]).write_bytes(content)
    return folder


def told(folder: Path) -> str:
    """The sentence with which a folder is refused; also those of tensors that are got."""
    with pytest.raises(ValueError, match=r"expected .*; got ") as refused:
        all_of(folder)
    assert type(refused.value) is ValueError
    sentence = str(refused.value)
    assert len(sentence) < 700
    assert sentence.isprintable()
    return sentence


def all_of(folder: Path) -> dict[str, Tensor]:
    """The tensors of a folder, all of which are looked at."""
    opened = open_checkpoint(folder)
    tensors = dict(opened.tensors)
    for name, tensor in tensors.items():
        assert tuple(tensor.shape) == opened.shapes[name]
        if tensor.is_floating_point():
            check_finite(name, tensor, opened.files[name].name)
    return tensors


# what is there


def test_what_a_folder_holds(tmp_path: Path) -> None:
    theirs = made("bert")
    opened = open_checkpoint(saved(theirs, tmp_path))
    assert opened.config["model_type"] == "bert"
    assert opened.tokenizer is None
    state = theirs.state_dict()
    assert len(opened.tensors) > 40
    for name, tensor in opened.tensors.items():
        assert torch.equal(tensor, state[name])
        assert opened.shapes[name] == tuple(state[name].shape)
        assert opened.files[name] == tmp_path / WEIGHTS
    (tmp_path / "tokenizer.json").write_text("{}")
    assert open_checkpoint(tmp_path).tokenizer == tmp_path / "tokenizer.json"
    with pytest.raises(KeyError):
        opened.tensors["no such tensor"]


def test_shards_hold_the_same_as_one_file(tmp_path: Path) -> None:
    theirs = made("llama")
    whole = open_checkpoint(saved(theirs, tmp_path / "whole"))
    parts = open_checkpoint(saved(theirs, tmp_path / "parts", max_shard_size="10KB"))
    assert not (tmp_path / "parts" / WEIGHTS).exists()
    assert len(set(parts.files.values())) > 2
    assert dict(parts.shapes) == dict(whole.shapes)
    assert all(torch.equal(parts.tensors[name], tensor) for name, tensor in whole.tensors.items())


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool]
)
def test_kinds_of_numbers_that_are_kept(dtype: torch.dtype, tmp_path: Path) -> None:
    tensors = {"a": torch.tensor([[1, 0, 3]]).to(dtype), "a number alone": torch.tensor(1).to(dtype)}
    opened = open_checkpoint(folder_with(tmp_path, save(tensors)))
    assert opened.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(opened.tensors[name], tensor)
        assert opened.tensors[name].dtype == dtype


def test_links_are_followed_as_the_cache_of_the_hub_has_them(tmp_path: Path) -> None:
    blobs = folder_with(tmp_path / "blobs")
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    for name in (CONFIG, WEIGHTS):
        (snapshot / name).symlink_to(blobs / name)
    assert all_of(snapshot).keys() == {"a", "b"}
    (blobs / WEIGHTS).unlink()
    assert told(snapshot).endswith("got something else of this name")


def test_numbers_at_odd_addresses_are_copied_to_even_ones(tmp_path: Path) -> None:
    """The library writes headers of a length that is a multiple of 8; others need not."""
    content = raw(
        {"byte": about([1], 0, 1, "U8"), "a": about([2], 1, 9)}, b"\7" + torch.tensor([1.5, 2.5]).numpy().tobytes()
    )
    tensor = all_of(folder_with(tmp_path, content))["a"]
    assert tensor.tolist() == [1.5, 2.5]
    assert tensor.data_ptr() % 4 == 0


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
def test_tensors_are_views_of_the_mapped_file(tmp_path: Path) -> None:
    save_file({str(number): torch.ones(2**18) for number in range(8)}, tmp_path / WEIGHTS)
    opened = open_checkpoint(folder_with(tmp_path, None))
    tensors = dict(opened.tensors)
    lines = [
        line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(f"{tmp_path / WEIGHTS}")
    ]
    mapped = [range(*(int(end, 16) for end in line.split()[0].split("-"))) for line in lines]
    assert all(any(tensor.data_ptr() in part for part in mapped) for tensor in tensors.values())
    tensors["0"][0] = 7  # a page of this process's, and never the file
    assert all_of(tmp_path)["0"][0] == 1


# files that are no checkpoint


def test_what_is_no_folder_or_lacks_files(tmp_path: Path) -> None:
    assert told(tmp_path / "nowhere").startswith("expected a folder with config.json")
    assert told(tmp_path).startswith("config.json: expected a file of this name in ")
    (tmp_path / CONFIG).write_text("{}")
    assert "expected model.safetensors, or model.safetensors.index.json with its shards; got 'config.json'" in told(
        tmp_path
    )
    (tmp_path / WEIGHTS).mkdir()
    assert told(tmp_path).endswith("got something else of this name")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among files")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(folder_with(tmp_path, None) / WEIGHTS)
    assert told(tmp_path).endswith("got something else of this name")
    (tmp_path / CONFIG).unlink()
    os.mkfifo(tmp_path / CONFIG)
    assert told(tmp_path).endswith("got something else of this name")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "x.pt", "x.PTH", "x.ckpt"])
def test_pickled_files_are_never_opened(name: str, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, None)
    os.mkfifo(folder / name)  # to open it would hang
    (folder / "a_training_args.bin").touch()
    sentence = told(folder)
    assert f"got '{name}'" in sentence or "model" not in name
    assert "is pickled: to open it can run code" in sentence
    assert 'from_pretrained("OLD").save_pretrained("NEW")' in sentence


@pytest.mark.parametrize(("name", "how"), [("tf_model.h5", "from_tf=True"), ("flax_model.msgpack", "from_flax=True")])
def test_formats_of_other_libraries_are_never_opened(name: str, how: str, tmp_path: Path) -> None:
    (folder_with(tmp_path, None) / name).touch()
    assert f"got '{name}', which is never read" in told(tmp_path)
    assert how in told(tmp_path)


def test_what_the_sentence_advises_makes_a_folder_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = made("bert")
    folder = saved(theirs, tmp_path / "OLD")
    (folder / WEIGHTS).unlink()
    torch.save(theirs.state_dict(), folder / "pytorch_model.bin")
    code = told(folder).partition("with transformers: ")[2].partition(" (and copy")[0]
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    tensors = all_of(tmp_path / "NEW")
    state = theirs.state_dict()
    assert tensors
    assert all(torch.equal(tensor, state[name]) for name, tensor in tensors.items())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "got one that cannot be read: Expecting value"),
        (b"{", "got one that cannot be read: Expecting property name"),
        (b"[]", "got a list"),
        (b"null", "got a NoneType"),
        (b'{"a": NaN}', "NaN is no finite number"),
        (b'{"a": -Infinity}', "-Infinity is no finite number"),
        (b'{"a": 1e999}', "1e999 is no finite number"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "Exceeds the limit"),
        (b'{"a": "\xff"}', "got bytes that are no UTF-8, at 7"),
        ('{"a": 1}'.encode("utf-16"), "got bytes that are no UTF-8, at 0"),
        (b'\xef\xbb\xbf{"a": 1}', "got one that cannot be read: Unexpected UTF-8 BOM"),
        (b'{"a": {"b": 1, "b": 1}}', "the name 'b' stands twice in the same object"),
        (b'{"a": ' + b"[" * 100_000, "of at most 40 levels; got more"),
        (b'{"a": ' * 50 + b"1" + b"}" * 50, "of at most 40 levels; got more"),
        (b"[" * 900 + b"]" * 900, "got a list"),
        (b'{"a": "' + b"a" * 1_000_000 + b'"}', "expected at most 1,000,000 bytes; got more"),
    ],
)  # fmt: skip
def test_another_config_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    sentence = told(folder_with(tmp_path, config=content))
    assert sentence.startswith("config.json: expected ")
    assert words in sentence


A = b'{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        # cut off, or no such file
        (b"", "expected a whole file of the format safetensors, here of 8 + 0 bytes or more; got 0 bytes"),
        (b"\0" * 7, "got 7 bytes"),
        (b"\0" * 100, "got 'invalid JSON in header: EOF"),
        (LONG + b"{}", "here of 8 + 4,611,686,018,427,387,904 bytes or more; got 10 bytes"),
        (raw(b"{}", length=90_000_000), "8 + 90,000,000 bytes or more; got 14 bytes"),
        (raw(b" " * 2**24 + b'{"a":' + A + b"}"), "expected a header of at most 16,777,216 bytes; got 16,777,270"),
        (SMALL[:-1], "expected the numbers of the last tensor to end where the file ends"),
        (SMALL + b"\0", "expected the numbers of the last tensor to end where the file ends"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "got a pointer of Git LFS"),
        (b"\x80\x02}q\x00.", "expected a whole file of the format safetensors"),
        (b"PK\x03\x04" + b"\0" * 60, "expected a whole file of the format safetensors"),
        # headers
        (raw(b"{nope}"), "expected a header in JSON"),
        (raw(b"[]"), "expected a header in JSON"),
        (raw(b"{}", b""), "expected 1 to 100,000 tensors; got 0"),
        (raw({"__metadata__": {"format": "pt"}}, b""), "expected 1 to 100,000 tensors; got 0"),
        (raw({"__metadata__": {"format": 1}, "a": about([1], 0, 4)}), "expected a header in JSON"),
        (raw(b'{"a":' + A + b"}\0"), "expected a header in JSON"),
        (raw(b'{"a\xff":' + A + b"}"), "invalid UTF-8 in header"),
        (raw(b'{"\\ud800":' + A + b"}"), "expected a header in JSON"),
        (raw(b'{"a":' + b"[" * 100_000), "expected a header in JSON"),
        (raw(b'{"a":{"x":' + b"[" * 50 + b"]" * 50 + b"," + A[1:] + b"}"), "of at most 40 levels; got more"),
        (raw(b'{"a":{"x":[' + b"[]," * 400_000 + b"1]," + A[1:] + b"}"), "at most 400,000 objects and lists in it"),
        (raw(b'{"a":{"x":1' + b"0" * 5000 + b"," + A[1:] + b"}"), "expected "),
        (raw(b'{"a":{"x":1e999,' + A[1:] + b"}"), "expected "),
        # names
        (raw(b'{"a":' + A + b',"a":' + A + b"}"), "the name 'a' stands twice in the same object"),
        (raw(b'{"\\u0061":' + A + b',"a":' + A + b"}"), "the name 'a' stands twice in the same object"),
        (raw(b'{"a":{"dtype":"I32",' + A[1:] + b"}"), "duplicate field `dtype`"),
        (raw(b'{"a":["F32",[1],[0,4]]}'), "tensor 'a': expected an object with dtype, shape and data_offsets; got ["),
        (raw({"a": {"dtype": "F32", "shape": [1]}}), "missing field `data_offsets`"),
        # where the numbers lie
        (raw({"a": about([2], 0, 8), "b": about([2], 4, 12)}, b"\0" * 12), "to begin where those before it end"),
        (raw({"a": about([2], 0, 8), "b": about([2], 0, 8)}, b"\0" * 8), "to begin where those before it end"),
        (raw({"a": about([1], 0, 4), "b": about([1], 8, 12)}, b"\0" * 12), "to begin where those before it end"),
        (raw({"a": about([1], 4, 8)}, b"\0" * 8), "to begin where those before it end"),
        (raw({"a": about([1], 4, 0)}), "to begin where those before it end"),
        (raw({"a": about([3], 0, 12)}, b"\0" * 8), "to end where the file ends"),
        (raw({"a": about([1], 0, 2**63)}), "expected as many bytes of each tensor"),
        (raw({"a": about([1], 0, 2**64)}), "expected a header in JSON"),
        (raw({"a": about([1], -4, 0)}), "expected a header in JSON"),
        # shapes
        (raw({"a": about([2], 0, 4)}), "expected as many bytes of each tensor as its shape and dtype take"),
        (raw({"a": about([-1], 0, 4)}), "expected a header in JSON"),
        (raw({"a": about([1.0], 0, 4)}), "expected a header in JSON"),
        (raw({"a": about([True], 0, 4)}), "expected a header in JSON"),
        (raw({"a": about([2**62, 4], 0, 0)}, b""), "overflow computing buffer size"),
        (raw({"a": about([0, 2**62, 2**62], 0, 0)}, b""), "expected sizes of at least 1; got (0, 4611686018427387904"),
        (raw({"a": about([0, 2**63], 0, 0)}, b""), "expected sizes of at least 1; got (0,"),
        (raw({"a": about([0], 0, 0), "b": about([1], 0, 4)}), "tensor 'a': expected sizes of at least 1; got (0,)"),
        (raw({"a": about([1] * 9, 0, 4)}), "tensor 'a': expected at most 8 axes; got 9"),
        (raw({"a": about([1] * 1_000_000, 0, 4)}), "expected at most 8 axes; got 1,000,000"),
        (raw({"a": about([0] * 1_000_000, 0, 0)}, b""), "expected at most 8 axes; got 1,000,000"),
        # kinds of numbers
        (raw({"a": about([1], 0, 4, "F31")}), "expected dtypes among BF16, BOOL, F16, F32, F64, I16"),
        (raw({"a": about([1], 0, 4, "f32")}), "expected dtypes among BF16"),
        (raw({"a": about([1], 0, 8, "C64")}, b"\0" * 8), "tensor 'a': expected a dtype among BF16, BOOL, F16"),
        (raw({"a": about([4], 0, 4, "F8_E4M3")}), "expected a dtype among BF16, BOOL, F16"),
        (raw({"a": about([8], 0, 4, "F4")}), "expected a dtype among BF16, BOOL, F16"),
        (raw({"a": about([16], 0, 12, "F6_E2M3")}, b"\0" * 12), "expected a dtype among BF16, BOOL, F16"),
        (raw({"a\n" * 10_000: about([0], 0, 0)}, b""), r"tensor 'a\na\na\n"),
        # numbers
        (save({"a": torch.tensor([1.0, torch.nan])}), "tensor 'a': expected finite numbers; got NaN or infinity"),
    ],
)  # fmt: skip
def test_another_file_of_tensors_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    sentence = told(folder_with(tmp_path, content))
    assert sentence.startswith("model.safetensors: ")
    assert words in sentence


def test_so_many_tensors_are_read_and_not_one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MOST_TENSORS", 1000)  # a hundred times as many take a second
    numbered = {f"model.layers.{n}.mlp.weight": about([1, 1], n, n + 1, "U8") for n in range(1000)}
    opened = open_checkpoint(folder_with(tmp_path, raw(numbered, bytes(1000))))
    assert len(opened.tensors) == 1000
    numbered["more"] = about([1], 1000, 1001, "U8")
    assert told(folder_with(tmp_path, raw(numbered, bytes(1001)))).endswith("expected 1 to 1,000 tensors; got 1,001")


def test_what_the_system_refuses_is_a_sentence_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_checkpoint(folder_with(tmp_path))

    def locked(self: Path, *args: Any) -> None:
        raise PermissionError(13, "Permission denied")

    def gone(name: str) -> Tensor:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", locked)
    assert told(tmp_path) == "config.json: expected a file that can be read; got Permission denied"
    with pytest.raises(
        ValueError, match=r"^model.safetensors: expected a file that can be read; got Permission denied$"
    ):
        checkpoint._header(tmp_path / WEIGHTS)
    lost = checkpoint._Mapped({tmp_path / WEIGHTS: gone}, opened.files)
    with pytest.raises(ValueError, match=r"^model.safetensors: tensor 'a': expected .*; got .*Input/output error"):
        lost["a"]


# numbers


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("spoiled", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("count", [1, 7, 64, 100_001])
def test_a_single_number_that_is_none_is_noticed_wherever_it_is(dtype: torch.dtype, spoiled: float, count: int) -> None:
    tensor = torch.linspace(-2, 2, count).to(dtype)
    check_finite("a", tensor, "model.safetensors")
    for place in {0, count // 2, count - 1}:
        other = tensor.clone()
        other[place] = spoiled
        with pytest.raises(ValueError, match=r"^x: tensor 'a': expected finite numbers; got NaN or infinity$"):
            check_finite("a", other, "x")


def test_numbers_beyond_float32_and_whole_numbers_are_no_parameters() -> None:
    check_finite("a", torch.tensor([3e38, -3e38], dtype=torch.float64), "x")
    check_finite("a", torch.zeros(0), "x")
    for number in (1e300, -1e300):
        with pytest.raises(ValueError, match=r"x: tensor 'a': expected numbers within float32; got 1.0e\+300"):
            check_finite("a", torch.tensor([0, number], dtype=torch.float64), "x")
    with pytest.raises(ValueError, match=r"expected floating-point numbers of a parameter; got torch.int8"):
        check_finite("a", torch.zeros(2, dtype=torch.int8), "x")


# shards

FIRST, SECOND = save({"a": torch.ones(1)}), save({"b": torch.ones(2)})
GOOD = {"a": SHARDS[0], "b": SHARDS[1]}


def indexed(weight_map: Any = GOOD, **more: Any) -> bytes:
    return json.dumps({"metadata": {"total_size": 12}, "weight_map": weight_map} | more).encode()


def test_shards_are_read_in_the_order_of_the_index(tmp_path: Path) -> None:
    opened = open_checkpoint(folder_with(tmp_path, None, first=FIRST, second=SECOND, index=indexed()))
    assert list(opened.tensors) == ["a", "b"]
    assert {name: path.name for name, path in opened.files.items()} == GOOD
    (tmp_path / WEIGHTS).write_bytes(SMALL)  # the whole is taken, as by transformers
    assert open_checkpoint(tmp_path).shapes["a"] == (2, 3)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x.safetensors", "/x.safetensors", "a/x.safetensors", "a\\x.safetensors", "C:x.safetensors",
     "\\\\server\\x.safetensors", "x.bin", "x.safetensors\0", "x.safetensors\n", "\ud800.safetensors",
     ".safetensors/.."],
)  # fmt: skip
def test_a_shard_lies_directly_in_the_folder(name: str, tmp_path: Path) -> None:
    outside = tmp_path / "x.safetensors"
    outside.write_bytes(SECOND)
    folder = folder_with(tmp_path / "inside", None, first=FIRST, index=indexed({"a": SHARDS[0], "b": name}))
    sentence = told(folder)
    assert sentence.startswith(
        f"{INDEX}: weight_map: expected names of .safetensors files directly in the folder; got "
    )


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"index": b"{"}, f"{INDEX}: expected an object in JSON"),
        ({"index": b"{}"}, "weight_map: expected an object of names of files; got None"),
        ({"index": indexed([])}, r"weight_map: expected an object of names of files; got []"),
        ({"index": indexed({"a": 1})}, "weight_map: expected an object of names of files; got {'a': 1}"),
        ({"index": indexed({})}, "weight_map: expected 1 to 100,000 tensors; got 0"),
        ({"index": indexed({str(n): "x.safetensors" for n in range(100_001)})}, "100,000 tensors; got 100,001"),
        ({"index": indexed({str(n): f"{n}.safetensors" for n in range(1001)})}, "at most 1,000 files; got 1,001"),
        ({"index": indexed(more=[[]] * 1000)}, "with at most 1,000 objects and lists in it; got more"),
        ({"index": b'{"weight_map":{"a":"x.safetensors","a":"y.safetensors"}}'}, "the name 'a' stands twice"),
        ({"index": indexed({"a": "x" * 300 + ".safetensors"})}, "expected a file of this name in "),
        ({"second": None}, f"{SHARDS[1]}: expected a file of this name in "),
        ({"second": b""}, f"{SHARDS[1]}: expected a whole file of the format safetensors"),
        ({"second": SECOND[:-1]}, f"{SHARDS[1]}: expected the numbers of the last tensor to end where the file ends"),
        ({"index": indexed(GOOD | {"c": SHARDS[1]})},
         f"{SHARDS[1]}: tensor 'c': expected in this file, as {INDEX} has it; got none"),
        ({"second": FIRST},
         f"{SHARDS[1]}: tensor 'a': expected in '{SHARDS[0]}' alone, as {INDEX} has it; got it in this file"),
        ({"second": save({"b": torch.ones(2), "a": torch.ones(1)})},
         f"{SHARDS[1]}: tensor 'a': expected in '{SHARDS[0]}' alone, as {INDEX} has it; got it in this file"),
        ({"second": save({"b": torch.ones(2), "c": torch.ones(1)})},
         f"{SHARDS[1]}: tensor 'c': expected nowhere, as {INDEX} has it; got it in this file"),
    ],
)  # fmt: skip
def test_shards_that_do_not_fit_their_index_are_refused(
    files: dict[str, bytes | None], words: str, tmp_path: Path
) -> None:
    every = {"first": FIRST, "second": SECOND, "index": indexed()} | files
    present = {name: content for name, content in every.items() if content is not None}
    assert words in told(folder_with(tmp_path, None, **present))


# any file


def same_or_refused(content: bytes) -> None:
    """A sentence, or tensors of the same shapes; they may have another name or kind, which no header can tell."""
    sentence, shapes = "", []
    with TemporaryDirectory() as temporary:
        folder = folder_with(Path(temporary), content)
        try:
            shapes = sorted(tuple(tensor.shape) for tensor in open_checkpoint(folder).tensors.values())
        except ValueError as problem:
            sentence = str(problem)
    assert shapes == [(2,), (2, 3)] or re.search("expected .*; got ", sentence)
    assert sentence.isprintable()


END = 8 + int.from_bytes(SMALL[:8], "little")
CHANGES: dict[str, Callable[[int, int], bytes]] = {
    "cut": lambda place, byte: SMALL[: place % len(SMALL)],
    "another byte": lambda place, byte: SMALL[: place % END] + bytes([byte]) + SMALL[place % END + 1 :],
    "a byte more": lambda place, byte: SMALL[: place % END] + bytes([byte]) + SMALL[place % END :],
    "a byte less": lambda place, byte: SMALL[: place % END] + SMALL[place % END + 1 :],
}


@given(st.sampled_from(sorted(CHANGES)), st.integers(0, len(SMALL) - 1), st.integers(0, 255))
def test_a_spoiled_header_is_refused_or_tells_the_same_shapes(change: str, place: int, byte: int) -> None:
    same_or_refused(CHANGES[change](place, byte))


def test_a_file_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    for end in range(len(SMALL)):
        told(folder_with(tmp_path, SMALL[:end]))


@given(st.binary(max_size=60))
def test_any_bytes_are_refused(content: bytes) -> None:
    same_or_refused(content)
    same_or_refused(raw(content))
