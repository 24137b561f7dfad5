"""The colours of the app, in one place; .streamlit/config.toml repeats some of them.

They can be told apart by colour-blind readers and on a dim projector.
"""

from typing import Literal

Mode = Literal["light", "dark"]

ROLE: dict[Mode, dict[str, str]] = {
    "light": {"query": "#0670BE", "key": "#C8350A", "value": "#0A5D45", "result": "#6A1B6A"},
    "dark": {"query": "#4AA6F5", "key": "#FF6B3D", "value": "#66E3B0", "result": "#F4BDEE"},
}
PAPER: dict[Mode, str] = {"light": "#FFFFFF", "dark": "#0E1319"}
SURFACE: dict[Mode, str] = {"light": "#F2F4F8", "dark": "#1A222C"}  # what stands on the paper and is no picture
INK: dict[Mode, str] = {"light": "#141C27", "dark": "#EBF0F5"}
MUTED: dict[Mode, str] = {"light": "#55616F", "dark": "#A3B0BE"}
RULE: dict[Mode, str] = {"light": "#D3DAE3", "dark": "#33404E"}
MASKED: dict[Mode, str] = {"light": "#CFC8BE", "dark": "#403C38"}  # warm: a neutral grey is lost under deuteranopia
HATCH: dict[Mode, str] = {"light": "#B3AA9D", "dark": "#5C564F"}
RING, RING_INK = "#FFB000", "#10161F"

# 17 equal steps in CAM02-UCS, zero first: more weight is further from the paper in both modes.
WEIGHTS: dict[Mode, list[str]] = {
    "light": (
        "#F4F8FA #E0EEF6 #C9E4F3 #B1D8ED #97CCE6 #7CC0DF #61B2D7 #4BA4CE #3C95C5 "
        "#3386BC #2D76B1 #2A67A3 #275995 #254A86 #233B77 #202D68 #1D1E58"
    ).split(),
    "dark": (
        "#141C27 #19253D #1D2F57 #203C72 #274C85 #295D91 #286E9C #2B7FA5 #3990AC "
        "#4A9EAD #5AABAD #68B9AD #78CAB1 #94D9BA #B5E5C3 #D3EFCC #F1F8D6"
    ).split(),
}

# 17 steps around zero, which is nearly the paper: teal is negative, ochre positive.
SIGNED: dict[Mode, list[str]] = {
    "light": (
        "#0A4F57 #0C666D #207D83 #3B9599 #5EABAE #85C0C1 #ADD5D4 #D4E7E4 #F7F6F2 "
        "#F1E0C9 #E9C69D #DEAB73 #D0904C #B97830 #9F621D #854D0D #6B3A06"
    ).split(),
    "dark": (
        "#8FE5E4 #70C9CA #53AFB1 #379699 #277D80 #226468 #1E4C51 #1F363C #1B2129 "
        "#302B26 #4B371F #6B471D #8C5C22 #AE732E #CD8F47 #E7AF6D #FBD29C"
    ).split(),
}
# Heads 1 to 8; 9 to 16 are the same colours dashed, and the number always stands beside them.
HEADS: dict[Mode, list[str]] = {
    "light": "#1A6755 #EE3E8B #7C22B8 #928242 #9B1818 #329AA0 #4E2246 #B168FD".split(),
    "dark": "#85EBE6 #D93170 #D1A82D #939BD7 #308E86 #D7F0AD #8E4CCB #657A06".split(),
}
LEAK: dict[Mode, str] = {"light": "#B3123A", "dark": "#FF8098"}  # always with a cross or a word
