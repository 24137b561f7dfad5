"""Texts that look alike: which signs are easily taken for others, and where two texts differ."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.language.alike import LETTERS, MARKS, code_points, differences, signs_alike, skeleton

TWINS = {
    "composed é": ("caf\u00e9", "cafe\u0301"),
    "Cyrillic a": ("cat", "c\u0430t"),
    "no-break space": ("a cat", "a\u00a0cat"),
    "curly quote": ("it's", "it\u2019s"),
    "full width": ("cat", "\uff43\uff41\uff54"),
    "zero width": ("cat", "c\u200bat"),
    "ligature": ("fine", "\ufb01ne"),
    "hyphen": ("so-so", "so\u2010so"),
}
TEXT = st.text(st.sampled_from("cate\u0301\u0323\u00e9\u0430\u00a0 \u200b\uff43'\u2019水น้ำ"), max_size=16)


@pytest.mark.parametrize("name", TWINS)
def test_twins_look_alike_and_the_place_is_told(name: str) -> None:
    plain, other = TWINS[name]
    (difference,) = differences(plain, other) if name != "full width" else differences(plain[0], other[0])
    assert difference.texts[0] != difference.texts[1]
    for text, at, part in zip((plain, other), difference.at, difference.texts, strict=True):
        assert text[at : at + len(part)] == part
    assert signs_alike(other), "the second of them warns by itself"
    assert not signs_alike(plain)


@given(TEXT, TEXT)
def test_the_differences_are_all_that_tells_two_texts_apart(plain: str, other: str) -> None:
    apart = differences(plain, other)
    if apart is None:
        assert skeleton(plain) != skeleton(other)
        return
    changed, shift = plain, 0
    for difference in apart:
        at = difference.at[0] + shift
        assert changed[at : at + len(difference.texts[0])] == difference.texts[0]
        changed = changed[:at] + difference.texts[1] + changed[at + len(difference.texts[0]) :]
        shift += len(difference.texts[1]) - len(difference.texts[0])
    assert changed == other


@given(st.text(max_size=20))
def test_a_text_looks_like_its_normal_forms(text: str) -> None:
    assert differences(text, text) == ()
    assert skeleton(unicodedata.normalize("NFC", text)) == skeleton(unicodedata.normalize("NFD", text))


@pytest.mark.parametrize("text", ["привет", "Ωμέγα", "น้ำเย็น", "كوبًا من الماء", "👨‍👩‍👧", "水", "naïve", "می‌خواهم"])
def test_texts_in_their_own_script_are_what_they_look_like(text: str) -> None:
    assert not signs_alike(text)


def test_each_sign_of_the_table_is_another_letter() -> None:
    for sign, like in (LETTERS | MARKS).items():
        assert sign != like
        assert like.isascii()
        assert not sign.isascii()


def test_code_points_have_their_names() -> None:
    assert code_points("\u0430\n") == "U+0430 CYRILLIC SMALL LETTER A, U+000A without a name"
