"""A sentence as an SVG: what stands in the place of a picture that cannot be drawn."""

from html import escape
from textwrap import wrap

WIDTH, LINE, LETTERS = 482, 13, 9  # points: 170 mm, from one line to the next, and the size of letters
MOST_CHARS, MOST_LINES = 92, 6


def in_words(sentence: str) -> bytes:
    """The sentence, as wide as a page."""
    lines = wrap(sentence, MOST_CHARS, max_lines=MOST_LINES, placeholder=" …")
    tall = LINE * (len(lines) + 1)
    spans = "".join(f'<tspan x="0" y="{LINE * (at + 1)}">{escape(line)}</tspan>' for at, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}pt" height="{tall}pt" viewBox="0 0 {WIDTH} {tall}">'
        f'<text font-family="sans-serif" font-size="{LETTERS}">{spans}</text></svg>'
    ).encode()
