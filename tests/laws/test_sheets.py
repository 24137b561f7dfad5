"""Sheets of the lessons that come with the app: each step has picture, question, lines and QR code, no answer."""

import re
from html import unescape
from urllib.parse import unquote

import numpy as np
import pytest

from tfm_ui.lenses import lens
from tfm_ui.lessons import sheet_pieces, shelf
from tfm_ui.lessons.sheet import LEAST_CODE, Sheet, answered, hidden, lines_of, qr_code
from tfm_ui.lessons.shown import shown
from tfm_ui.live.not_here import missing_weights
from tfm_ui.page import paper_pictures
from tfm_ui.page.paper_pictures import is_hidden
from tfm_ui.pictures.heatmaps import PRINTED
from tfm_ui.pictures.paper_drawing import PaperDrawing
from tfm_ui.pictures.registry import Asked, made, read

ADDRESS = "https://lab.example.org"
NAMES = [*shelf.names(), *shelf.teaching()]
STEPS = [(name, at) for name in NAMES for at in range(len(shelf.shipped(name).steps))]
WIDE, LEAST = 170 / 25.4 * 72, 6.5  # points: the width of a picture, and the size of letters at least, within cells


def of_server(name: str, kind: str) -> Sheet:
    return Sheet(name, shelf.shipped(name), kind, "a4", ADDRESS, sheet_pieces._of_server)


def opened(name, at):
    """A step, with what it shows; skipped where its weights are not installed."""
    step = shelf.shipped(name).steps[at]
    this = shown(step, lens)
    if this.model.pretrained and missing_weights(this.model):
        pytest.skip(f"{this.model.weights} is not installed here")
    return step, this


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_a_step_has_a_picture_a_question_lines_and_its_code_and_not_its_answer(name, at):
    step, this = opened(name, at)
    answer = answered(this)
    assert answer.problem == ""
    block = of_server(name, "questions").block(this, at, answer)
    to = f"{ADDRESS}/learn?lesson={name}.{step.name}"
    assert qr_code(to) in block
    assert plain(block).endswith(to.removeprefix("https://"))
    assert block.count("<i") - block.count("<img") == lines_of(step) >= 1
    for asked in (step.heading, step.words, step.predict and step.predict.ask, step.task):
        assert not asked or " ".join(asked.split()) in plain(block)
    assert not answer.text or " ".join(answer.text.split()) not in plain(block)
    assert "☒" not in block
    picture = re.search(r'<img class="picture" src="pictures/wide/(\w+)\.svg\?(.*?)"', block)
    if not picture:
        assert all(is_hidden(key, hidden(this)) for key in this.lens.view_of(this.state).pictures)
        return
    asked = read([f"{this.lens.name}.on_paper_wide"], unescape(picture[2]))
    assert (picture[1], asked.model, asked.lens(this.lens.state, this.lens.prefix)) == (
        this.lens.name,
        this.model,
        this.state,
    )
    assert hidden(this) == [*filter(None, left_out(unescape(picture[2])))]


def left_out(query: str) -> list[str]:
    begins = "without="
    return unquote(query.partition("&")[0].removeprefix(begins)).split(",") if query.startswith(begins) else []


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_the_answer_stands_on_its_sheet_and_its_right_option_is_marked(name, at):
    step, this = opened(name, at)
    answer = answered(this)
    block = of_server(name, "answers").block(this, at, answer)
    assert " ".join(answer.text.split()) in plain(block)
    if step.predict and step.predict.options:
        assert re.findall(r"☒ (.*?)</li>", block) == [answer.measured]
    elif answer.measured:
        assert answer.measured in plain(block)


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_its_picture_is_as_wide_as_the_page_with_letters_that_are_read(name, at):
    this = shown(shelf.shipped(name).steps[at], lens)
    if this.model.pretrained and missing_weights(this.model):
        pytest.skip(f"{this.model.weights} is not installed here")
    svg = made(f"{this.lens.name}.on_paper_wide", Asked(this.step.show[1])).decode()
    wide, tall = (float(size) for size in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    assert wide == pytest.approx(WIDE, abs=1)
    assert 100 < tall < 480
    sizes = {100 * float(scale) for scale in re.findall(r"scale\(([\d.]+) -[\d.]+\)", svg)}
    assert sizes
    assert min(sizes) >= LEAST - 0.001
    assert "<script" not in svg


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_its_small_maps_print_a_number_in_each_cell_or_say_that_they_do_not(name, at, monkeypatch):
    this = shown(shelf.shipped(name).steps[at], lens)
    if this.model.pretrained and missing_weights(this.model):
        pytest.skip(f"{this.model.weights} is not installed here")
    drawings = []
    finish = PaperDrawing.finish
    monkeypatch.setattr(PaperDrawing, "finish", lambda drawing: (finish(drawing), drawings.append(drawing)))
    asked = paper_pictures._Asked(this.lens.name, paper_pictures.WIDE, this.model, this.state, (), this.lens)
    paper_pictures._picture.__wrapped__(asked)
    for drawing in drawings:
        is_said = any(key.kind == "words" for key in [*drawing.keys()])
        assert not (is_said and name in shelf.teaching() and max(map(size_of, drawing.maps)) <= PRINTED)
        for each in drawing.maps:
            if each.texts and not is_said:
                printed = sum(bool(text.get_text()) for text in each.axes.texts if is_in(text, each))
                assert printed == np.isfinite(each.cells).sum()


def size_of(drawn) -> int:
    return max(drawn.cells.shape)


def is_in(text, drawn) -> bool:
    """Whether a text stands in a cell, and not above the map."""
    return text.get_transform() is drawn.axes.transData


def test_a_code_is_as_large_as_a_phone_needs():
    sides = [float(re.search(r"width: ([\d.]+)mm", qr_code(f"{ADDRESS}/{'x' * size}"))[1]) for size in (10, 60, 400)]
    assert sides[0] == LEAST_CODE
    assert sides == sorted(sides)
    for size, side in zip((10, 60, 400), sides, strict=True):
        squares = int(re.search(r'viewBox="0 0 (\d+)', qr_code(f"{ADDRESS}/{'x' * size}"))[1])
        assert side * (squares - 8) / squares >= 18  # mm, without the quiet squares around it
