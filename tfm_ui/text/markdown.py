"""User text inside Markdown."""

import re

JOINER = "\u2060"  # word joiner: nothing is seen of it, and no line breaks there
# Streamlit looks for these after a backslash has done its work, so that only a sign in between hides them: addresses
# (http://, www., a@b), icons (:material/close:, :streamlit:), and dashes and arrows in ASCII (--, ->, <=, ~=).
LOOKED_FOR = re.compile(r"(?<=:)(?=[\w/])|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-])|(?<=[-<>~])(?=[-=>])", re.IGNORECASE)
SIGNS = re.compile(r"""[\\`*_{}\[\]<>()#+\-.!|~$:^=&"']""")


def escape_markdown(text: str) -> str:
    """Every sign stands for itself, in one line; what looks like an address is no link."""
    return SIGNS.sub(r"\\\g<0>", LOOKED_FOR.sub(JOINER, re.sub(r"[\r\n]", " ", text)))
