"""`python -m tfm_core.training`."""

import re
import sys

import pytest
import torch

from tests.tfm_core.training.runs import opened, same_numbers, small, to_the_end, trained
from tfm_core.training import __main__ as command
from tfm_core.training.config import read_name
from tfm_core.training.train import train

SMALL = "reverse,d_model=8,batch_size=4,steps=9"


def kept(folder, name):
    return opened(folder).find(read_name(name))


def test_several_runs_in_the_order_in_which_they_are_named(tmp_path, capsys):
    names = [f"{SMALL},seed=1", SMALL, "copy,d_model=8,batch_size=4,steps=3"]
    assert command.main([*names, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert [line.split(":")[0] for line in printed.out.splitlines()[:3]] == names
    assert printed.err == ""  # no progress where nobody looks
    assert all(kept(tmp_path, name).is_complete for name in names)


@pytest.fixture
def begins(monkeypatch) -> list[int | None]:
    """The steps with which each training began; None for none."""
    noted: list[int | None] = []

    def train_noted(config, begin=None, **keywords):
        noted.append(begin and begin.done)
        return train(config, begin, **keywords)

    monkeypatch.setattr(command, "train", train_noted)
    return noted


def test_a_run_that_is_there_is_not_trained_again_unless_one_asks(tmp_path, capsys, begins):
    for arguments, trainings in ([], 1), ([], 1), (["--again"], 2):
        assert command.main([SMALL, "--out", str(tmp_path), *arguments]) == 0
        assert len(begins) == trainings
    assert begins == [None, None]
    assert capsys.readouterr().out.count("9 steps in") == 3


def test_a_shorter_run_is_continued(tmp_path, begins):
    for steps in (4, 9):
        assert command.main([f"reverse,d_model=8,batch_size=4,steps={steps}", "--out", str(tmp_path)]) == 0
    assert begins == [None, 4]
    same_numbers(kept(tmp_path, SMALL), to_the_end(small()))


def test_interrupted_it_keeps_what_is_done_and_goes_on_the_next_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tfm_core.training.train.REPORT_SECONDS", 0.0)

    def interrupted(*arguments, **keywords):
        for progress in train(*arguments, **keywords):
            yield progress
            if progress.run.done == 5:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command, "train", interrupted)
        assert command.main([SMALL, "copy", "--out", str(tmp_path)]) == command.INTERRUPTED
    assert capsys.readouterr().out == ""
    part = kept(tmp_path, SMALL)
    assert (part.done, part.is_complete) == (5, False)
    assert command.main([SMALL, "--out", str(tmp_path)]) == 0
    same_numbers(kept(tmp_path, SMALL), trained())


def test_interrupted_at_once_there_is_nothing(tmp_path, monkeypatch):
    def at_once(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "train", at_once)
    assert command.main([SMALL, "--out", str(tmp_path)]) == command.INTERRUPTED
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_diverges_says_why_and_is_not_trained_again(tmp_path, capsys):
    name = "reverse,d_model=8,learning_rate=10,warmup=0,weight_decay=10"
    for _ in range(2):
        assert command.main([name, "--out", str(tmp_path)]) == 0
        printed = capsys.readouterr().out
        assert "It diverged: the loss of step" in printed
        assert "A lower learning rate or a longer warm-up usually helps" in printed


def test_what_is_shipped_has_no_optimizer(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "SHIPPED", tmp_path)
    monkeypatch.setattr(command, "SHIPPED_RUNS", (SMALL, "textbook,steps=1"))
    assert command.main(["--ship"]) == 0
    assert len(list(tmp_path.glob("*.safetensors"))) == 2
    assert kept(tmp_path, SMALL).optimizer == {}
    assert kept(tmp_path, SMALL).maps
    assert kept(tmp_path, "textbook,steps=1").maps == {}
    assert capsys.readouterr().out.endswith(f"kept in {tmp_path}\n")


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert command.main([SMALL, "--out", str(tmp_path / "file")]) == 1
    printed = capsys.readouterr()
    assert "9 steps in" in printed.out
    assert f"{tmp_path / 'file'} cannot be written (File exists)." in printed.err


def test_on_a_terminal_a_bar_is_written_over_and_over(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tfm_core.training.train.REPORT_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert command.main([SMALL, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert told.count("\r") == 9
    assert told.count("\n") == 1
    bars = [line[: command.BAR + 2] for line in told.split("\r")[1:]]
    assert [bar.count("#") for bar in bars] == [round(step / 9 * command.BAR) for step in range(1, 10)]
    assert {len(bar) for bar in bars} == {command.BAR + 2}
    assert f"{SMALL}: step 4 of 9, held-out accuracy " in told
    assert told.endswith("%\033[K\n")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "runs: expected some of reverse, majority, copy"),
        (["juggle"], "task: expected one of reverse, majority, .*; got 'juggle'"),
        (["reverse", "sort,seed=1e9"], "seed: expected a number, got '1e9'"),
        (["reverse,file=0123456789ab"], "expected some that are trained from a seed, got weights of a file"),
        (["reverse", "--device", "cuda"], "--device: expected cpu, as torch finds no CUDA device here; got cuda"),
        (["reverse", "--device", "tpu"], "argument --device: invalid choice: 'tpu'"),
        (["reverse", "--threads", "0"], "--threads: expected 1 to .*, as many as there are cores; got 0"),
        (["compare", "reverse", "--threads", "-1"], "--threads: expected 1 to"),
        (["reverse", "--threads", "100000"], "as many as there are cores; got 100000"),
        (["reverse", "--threads", "many"], "argument --threads: invalid int value: 'many'"),
        (["reverse", "--steps", "3"], "unrecognized arguments: --steps"),
        (["compare"], "compare: expected some of reverse, .*, got none"),
        (["compare", "juggle"], "compare: expected some of reverse, .*, got juggle"),
    ],
)
def test_bad_arguments_are_a_sentence(given, words, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as ended:
        command.main([*given, "--out", str(tmp_path)])
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(words, said), said
    assert list(tmp_path.iterdir()) == []


def test_help_names_all_tasks(capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "reverse,seed=3,learning_rate=0.02" in printed
    assert "Write the digits in reverse order." in " ".join(printed.split())
