"""`python -m tfm_core.profiling`."""

import sys

import pytest
import torch

from tests.tfm_core.profiling.small import OPEN
from tfm_core.profiling import __main__ as command
from tfm_core.profiling import files, profile
from tfm_core.profiling.size import ENDS

TINY = ["--rows", "8,2,1,4", "--batch", "2", "--rounds", "2"]


@pytest.fixture
def undisturbed(monkeypatch, quick):
    monkeypatch.setattr(command, "profile", lambda plan: profile(plan, OPEN))


@pytest.mark.usefixtures("undisturbed")
def test_a_sweep_of_lengths_for_several_targets(tmp_path, capsys):
    targets = ["--targets", "LSTM", "with weights"]
    assert command.main([*TINY, *targets, "--lengths", "3", "5", "--out", str(tmp_path / "new")]) == 0
    (text,) = (tmp_path / "new").glob("*.csv")
    lines = text.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[2:6]] == ["LSTM", "with", "LSTM", "with"]


@pytest.mark.usefixtures("undisturbed")
def test_a_kind_is_asked_for_and_said(capsys):
    kind = ["--norm", "post", "--activation", "relu", "--positional", "alibi", "--causal", "--vocabulary", "1000"]
    targets = ["--targets", "with weights", "LSTM", "nn.TransformerEncoder"]
    assert command.main(["--rows", "64,4,2,4", "--batch", "1", "--rounds", "1", "--no-backward", *kind, *targets]) == 0
    printed = capsys.readouterr().out
    counted = "Counted and measured: encoder, causal, post-norm, relu, alibi positions; with embedding and output, "
    assert f"{counted}one matrix for 1,000 token ids." in printed
    assert "163,968" in printed.splitlines()[2]
    assert "LSTM is compared without norms, positions and heads; it reads one token after the other." in printed
    assert "Row 3, nn.TransformerEncoder: nn.TransformerEncoder has no place for alibi" in printed
    assert (
        printed.splitlines()[4].count("0") == printed.splitlines()[4].count("0 of 0") * 2
    )  # no figure of what cannot be


@pytest.mark.usefixtures("undisturbed")
def test_embedding_and_output_are_asked_for_each_by_itself(capsys):
    tiny = ["--rows", "64,4,2,4", "--batch", "1", "--rounds", "1", "--no-backward", "--vocabulary", "1000"]
    mflop = []
    for ends in ("both", "embedding", "output"):
        assert command.main([*tiny, "--ends", ends]) == 0
        printed = capsys.readouterr().out
        assert f"with {ENDS[ends]}" in printed
        mflop.append(next(word for word in printed.splitlines()[2].split() if "." in word))
    assert mflop[0] == mflop[2] != mflop[1]


@pytest.mark.usefixtures("undisturbed")
def test_interrupted_it_keeps_what_is_done(monkeypatch, tmp_path, capsys):
    def interrupted(plan):
        for step in profile(plan, OPEN):
            yield step
            if step.doing == "round 1 of 2":
                raise KeyboardInterrupt

    monkeypatch.setattr(command, "profile", interrupted)
    assert command.main([*TINY, "--out", str(tmp_path)]) == command.INTERRUPTED
    (written,) = tmp_path.glob("*.json")
    report = files.from_json(written.read_text(encoding="utf-8"))
    assert not report.complete
    assert report.blocks[0] == 1
    assert "Stopped before the end" in capsys.readouterr().out


def test_interrupted_at_once_there_is_nothing(monkeypatch, capsys):
    def at_once(plan):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(command, "profile", at_once)
    assert command.main(TINY) == command.INTERRUPTED
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--rows", "8,2,1"], "four whole numbers as in 64,4,2,50; got '8,2,1'"),
        (["--rows", "8,2,1,much"], "four whole numbers"),
        (["--rows", "8,3,1,4"], "expected a divisor of d_model=8, got 3"),
        (["--targets", "RNN"], "got RNN"),
        (["--batch", "0"], "batch: expected a whole number of at least 1, got 0"),
        (["--rounds", "0"], "rounds: expected"),
        (["--seed", "-1"], "seed: expected"),
        (["--seed", str(2**63)], "seed: expected"),
        (["--lengths", "-4"], "seq_len: expected"),
        (["--dtype", "int8"], "dtype: expected one of float32"),
        (["--device", "tpu"], "device: expected"),
        (["--device", "cuda"], "no CUDA device"),
        (["--out", __file__], "expected a folder"),
        (["--out", "/proc/no/such"], "expected a folder to write to, got /proc/no/such: No such file"),
        (["--rows", "1024,8,12,4096", "--seconds", "60", "--bytes", "1e9"], "would take about"),
        (["--rows", "4096,32,48,100000"], "would take about"),
        (["--bytes", "1e6", "--seconds", "inf"], "the limit is 1 MB. "),
        (["--seconds", "nan"], "--seconds: expected a number above 0, got 'nan'"),
        (["--bytes", "-1"], "--bytes: expected a number above 0"),
        (["--threads", "100000"], "as many as there are cores; got 100000"),
        (["--speed", "2"], "unrecognized arguments"),
        (["--norm", "batch"], "argument --norm: invalid choice: 'batch'"),
        (["--positional", "rope", "--rows", "6,2,1,4"], "expected an even d_model / num_heads"),
        (["--positional", "learned", "--lengths", "2000"], "learned positions: expected at most 1024 tokens, got 2000"),
        (["--vocabulary", "1"], "vocab_size: expected 0 or at least 2"),
    ],
)
def test_bad_arguments_are_a_sentence(given, words, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as ended:
        command.main(given)
    assert ended.value.code == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("undisturbed")
def test_on_a_terminal_progress_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert command.main(["--targets", "with weights", "fused", "LSTM", "GRU", *TINY]) == 0
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.count("\r") > 20
