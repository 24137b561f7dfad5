"""Sheets as HTML: what stands on each kind, what is escaped, and the command that writes one as a file."""

import re
from dataclasses import replace

import pytest

from tests.tfm_ui.lessons.lesson_text import HEAD, LESSON
from tfm_ui.lenses import lens
from tfm_ui.lessons import sheet_pieces
from tfm_ui.lessons.__main__ import main
from tfm_ui.lessons.lesson import Source
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.sheet import KINDS, PAPERS, Sheet, link
from tfm_ui.lessons.shown import Shown

ADDRESS = "https://lab.example.org"
CHOICE = HEAD + (
    "\n## How many\nRead the sum.\n\nshow: /attention?attention_query=9\n"
    "predict: What do the weights sum to?\noptions: 0.5 | 1.0 | 10\nmeasured: attention_row_sum\n"
    "answer: They sum to {attention_row_sum:.2f}.\nnotes: Wait for hands.\nminutes: 4\n"
)


def picture(this: Shown, kind: str, without) -> str:
    return f"{kind}.svg"


def document(text: str, kind: str, paper: str = "a4", address: str = ADDRESS, **changed) -> str:
    sheet = Sheet("mine", replace(read(text), **changed), kind, paper, address, picture)
    return "".join(piece() for piece in sheet_pieces._pieces(sheet, lens))


def test_each_kind_says_what_it_is_for():
    asked, answers, speaker = (document(CHOICE, kind) for kind in KINDS)
    assert re.findall(r"[☐☒] [\d.]+", asked) == ["☐ 0.5", "☐ 1.0", "☐ 10"]
    assert re.findall(r"[☐☒] [\d.]+", answers) == ["☐ 0.5", "☒ 1.0", "☐ 10"]
    for page, is_asked, has_notes in ((asked, True, False), (answers, False, False), (speaker, False, True)):
        assert ('class="lines"' in page, "<span>Name</span>" in page) == (is_asked, is_asked)
        assert ("They sum to 1.00." in page) != is_asked
        assert ("Wait for hands." in page, "0:00–0:04 · 4 min" in page) == (has_notes, has_notes)
        assert f'src="{"wide" if is_asked else "small"}.svg"' in page
        assert "lab.example.org/learn?lesson=mine.how-many" in page.replace("<wbr>", "")
    assert "Vaswani et al. 2017" in asked


def test_the_clock_goes_on_from_step_to_step_while_all_are_told():
    second = LESSON + "minutes: 7\n"
    assert "0:00" not in document(second, "speaker")  # the first does not tell
    assert "7 min" in document(second, "speaker")
    both = LESSON.replace("options: number", "minutes: 56\noptions: number") + "minutes: 7\n"
    assert "0:56–1:03 · 7 min" in document(both, "speaker")


def test_what_a_stranger_writes_is_text():
    evil = '</style><script>alert("1")</script>"&'
    steps = [replace(step, words=evil, heading=evil, task=evil, notes=evil) for step in read(LESSON).steps]
    more = {"title": evil, "objectives": [evil], "sources": [Source(evil, f"https://{evil}")], "steps": steps}
    for kind in KINDS:
        page = document(LESSON, kind, address=f"{ADDRESS}/{evil}", **more)
        assert evil not in page
        assert page.count("<script") == 1  # of the buttons
        assert page.count("</style>") == 1


def test_without_an_address_there_is_no_code_and_no_link():
    page = document(LESSON, "questions", address="")
    assert 'class="qr"' not in page
    assert 'class="to"' not in page
    assert document(LESSON, "questions").count('class="qr"') == 2


@pytest.mark.parametrize("paper", PAPERS)
def test_the_paper_is_named(paper):
    size, side = PAPERS[paper]
    assert f"@page {{ size: {size}; margin: 13mm {side} 15mm;" in document(LESSON, "answers", paper)


def test_what_cannot_be_computed_is_said_in_its_place():
    away = LESSON.replace("show: /heads?heads_layer=2", "show: /nowhere")
    page = document(away, "answers")
    assert "This step cannot be shown: expected a page of the app" in page
    assert "8 numbers" in page
    large = LESSON.replace("attention_query=9", "num_layers=24&amp;weights=none&text=" + "x+" * 2000)
    assert document(large, "answers")


def test_a_link_names_lesson_kind_and_paper():
    assert link("brought-abc", "answers", "letter") == "sheets/brought-abc.html?kind=answers&paper=letter"
    assert link("start-here", prints=True) == "sheets/start-here.html?kind=questions&paper=a4#print"


def test_the_command_writes_one_file_that_needs_no_server(tmp_path, capsys):
    lesson, into = tmp_path / "mine.md", tmp_path / "sheet.html"
    lesson.write_text(CHOICE, encoding="utf-8")
    assert main(["sheet", str(lesson), "--kind", "answers", "--into", str(into), "--address", ADDRESS]) == 0
    page = into.read_text(encoding="utf-8")
    assert page.count('src="data:image/svg+xml;base64,') == 1
    assert "<script" not in page
    assert "lab.example.org/attention?attention_query=9" in page.replace("<wbr>", "")
    assert f"{len(page.encode()):,} bytes" in capsys.readouterr().out
    assert main(["sheet", str(tmp_path / "none.md"), "--into", str(into)]) == 1
    assert "expected a lesson that can be read" in capsys.readouterr().err
    assert main(["sheet", str(lesson), "--into", str(into), "--address", "lab.example.org"]) == 2
