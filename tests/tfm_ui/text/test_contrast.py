"""Colours: letters are read on whatever they stand, in both modes (axe looks at one view of each lens in browsers),
scales go away from the paper, and theme, figures and scripts share their colours.
"""

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from tfm_ui.text import colours
from tfm_ui.text.colours import Mode

ROOT = Path(__file__).parents[3]
SKINS = ROOT / "assets/pictures/skins.js"
THEMES = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"]
ON_PAPER = ("print.css", "sheet.css")  # what is printed stands on white paper, whatever the reader's mode is
STYLES = sorted(file for file in (ROOT / "assets").rglob("*.css") if file.name not in ON_PAPER)
MODES: tuple[Mode, ...] = ("light", "dark")
ENOUGH = 4.5  # between letters and what they stand on (WCAG 2.2, 1.4.3)
FAINTEST = 0.7  # the least opacity of a text; what is half as opaque or less is disabled, or no letter
# What a style sheet may colour letters with.
OF_A_PALETTE = r"var\(--(muted|query|key|value|result|leak|st-(text|background|primary)-color)\)|inherit|currentColor"
ON_THE_RING = f"color: {colours.RING_INK}".lower()  # the same in both modes


def luminance(colour: str) -> float:
    """The relative luminance of #RRGGBB, as WCAG defines it."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(letters: str, ground: str) -> float:
    dark, light = sorted([luminance(letters), luminance(ground)])
    return (light + 0.05) / (dark + 0.05)


def mixed(colour: str, ground: str, opacity: float) -> str:
    """What is seen of letters that are not opaque."""
    shares = [(int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * a + (1 - opacity) * b):02X}" for a, b in shares)


@pytest.mark.parametrize("mode", MODES)
def test_letters_of_each_colour_can_be_read_on_paper_and_on_what_stands_on_it(mode: Mode):
    theme = THEMES[mode]
    letters = {"ink": colours.INK[mode], "muted": colours.MUTED[mode], **colours.ROLE[mode]}
    letters |= {"leak": colours.LEAK[mode], "primary": theme["primaryColor"], "link": theme["linkColor"]}
    for ground in (colours.PAPER[mode], colours.SURFACE[mode], *theme["sidebar"].values()):
        assert {name: colour for name, colour in letters.items() if contrast(colour, ground) < ENOUGH} == {}, ground
        assert contrast(mixed(colours.INK[mode], ground, FAINTEST), ground) >= ENOUGH
    assert contrast(colours.RING_INK, colours.RING) >= ENOUGH


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_style_sheets_colour_letters_from_the_palette_alone(file: Path):
    """What can be read in one mode can thus be read in the other."""
    style = file.read_text(encoding="utf-8").lower()
    letters = re.findall(r"(?:^|[;{\s])(color:\s*[^;}]+)", style)
    of_a_palette = re.compile(rf"color:\s*(?:{OF_A_PALETTE})(?:\s*!important)?\s*", re.IGNORECASE)
    assert [each for each in letters if each != ON_THE_RING and not of_a_palette.fullmatch(each)] == []
    faint = [float(number) for number in re.findall(r"opacity:\s*([\d.]+)", style)]
    assert [number for number in faint if 0.5 < number < FAINTEST] == []


@pytest.mark.parametrize("name", ON_PAPER)
def test_letters_on_paper_are_dark_enough_for_what_they_stand_on(name: str):
    rules = re.findall(r"{([^{}]*)}", (ROOT / "assets/lessons" / name).read_text(encoding="utf-8"))
    coloured = [(rule, match[1]) for rule in rules if (match := re.search(r"(?:^|[;\s])color:\s*(#\w{6})", rule))]
    assert coloured
    for rule, letters in coloured:
        ground = re.search(r"background:\s*(#\w{6})", rule)
        assert contrast(letters, ground[1] if ground else "#FFFFFF") >= ENOUGH, rule


@pytest.mark.parametrize("mode", MODES)
def test_each_step_of_the_scale_of_weights_is_further_from_the_paper_can_be_written_on_and_is_not_masked(mode: Mode):
    scale, paper = colours.WEIGHTS[mode], luminance(colours.PAPER[mode])
    distances = [abs(luminance(colour) - paper) for colour in scale]
    assert all(near < far for near, far in pairwise(distances))
    assert all(max(contrast("#FFFFFF", colour), contrast("#000000", colour)) >= ENOUGH for colour in scale)
    assert colours.MASKED[mode] not in scale


@pytest.mark.parametrize("mode", MODES)
def test_the_theme_and_the_figures_share_their_colours(mode: Mode):
    shared = ("backgroundColor", "secondaryBackgroundColor", "textColor", "borderColor")
    of_figures = [palette[mode] for palette in (colours.PAPER, colours.SURFACE, colours.INK, colours.RULE)]
    assert [THEMES[mode][name] for name in shared] == of_figures


def test_scripts_and_figures_share_their_colours():
    literal = SKINS.read_text(encoding="utf-8").partition("export const SKINS = ")[2]
    drawn = json.loads(re.sub(r"(\w+):", r'"\1":', literal))
    palettes = ("weights", "signed", "heads", "masked", "hatch", "rule", "muted", "ink", "leak")
    assert drawn == {
        mode: {name: getattr(colours, name.upper())[mode] for name in palettes}
        | {role: colours.ROLE[mode][role] for role in ("query", "key", "value", "result")}
        | {"ring": colours.RING, "ringInk": colours.RING_INK}
        for mode in MODES
    }
