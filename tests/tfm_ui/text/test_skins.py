"""The colours that scripts draw with are those of tfm_ui/text/colours.py."""

import json
import re
from pathlib import Path

from tfm_ui.text import colours

SCRIPT = Path(__file__).parents[3] / "assets/pictures/skins.js"


def test_scripts_and_figures_share_their_colours():
    literal = SCRIPT.read_text(encoding="utf-8").partition("export const SKINS = ")[2]
    drawn = json.loads(re.sub(r"(\w+):", r'"\1":', literal))
    assert drawn == {
        mode: {
            "weights": colours.WEIGHTS[mode],
            "signed": colours.SIGNED[mode],
            "heads": colours.HEADS[mode],
            "masked": colours.MASKED[mode],
            "hatch": colours.HATCH[mode],
            "rule": colours.RULE[mode],
            "muted": colours.MUTED[mode],
            "ink": colours.INK[mode],
            "query": colours.ROLE[mode]["query"],
            "key": colours.ROLE[mode]["key"],
            "value": colours.ROLE[mode]["value"],
            "result": colours.ROLE[mode]["result"],
            "leak": colours.LEAK[mode],
            "ring": colours.RING,
            "ringInk": colours.RING_INK,
        }
        for mode in colours.PAPER
    }
