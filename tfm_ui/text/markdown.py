"""Escapes user text for Markdown, as Streamlit reads it."""

import re

JOINER = "\u2060"  # word joiner: an invisible character that allows no line break
# Streamlit searches for these after it has removed backslashes, so only a character in between hides them: addresses
# (http://, www., a@b), icons (:material/close:, :streamlit:), and dashes and arrows in ASCII (--, ->, <=, ~=).
LOOKED_FOR = re.compile(r"(?<=:)(?=[\w/])|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-])|(?<=[-<>~])(?=[-=>])", re.IGNORECASE)
SIGNS = re.compile(r"""[\\`*_{}\[\]<>()#+\-.!|~$:^=&"']""")


def escape_markdown(text: str) -> str:
    """Markdown that shows the text literally, in one line: no formatting, no links, no icons."""
    return SIGNS.sub(r"\\\g<0>", LOOKED_FOR.sub(JOINER, re.sub(r"[\r\n]", " ", text)))
