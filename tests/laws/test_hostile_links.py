"""Every link, however bad, stands for a state or gets a sentence why not; a corrected link needs no other correction.

Lenses come from the registry of pictures, and fields from their states, so new ones are tested automatically.
"""

from collections.abc import Sequence
from functools import cache
from urllib.parse import urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_ui.pictures.registry import PICTURES, Asked, made
from tfm_ui.state.fields import LARGEST, Choice, State, controls_of, whole_number
from tfm_ui.state.links import Correction, Query, as_text, cuts, link_parameters, read_link, share_link, state_of
from tfm_ui.state.model_state import ModelState

LENSES = {picture.prefix: picture.state for picture in PICTURES.values()}
STATES = {"": ModelState, **LENSES}
MODELS = [{}, {"seq_len": ["2"], "num_layers": ["1"], "num_heads": ["1"]}, {"architecture": ["encoder-decoder"]}]

DIGITS = {f"{count} digits": "9" * count for count in (4_301, 100_000)}  # int() refuses more than 4,300
HOSTILE = {
    **DIGITS,
    **{f"{name} behind q": f"q{digits}" for name, digits in DIGITS.items()},
    "minus many digits": "-" + "9" * 4_301,
    "many decimals": "0." + "9" * 100_000,
    "many zeros": "0" * 100_000 + "1",
    "too large for a float": "1e400",
    "a vast exponent": "1e999999999999",
    "minus zero": "-0",
    "no number": "nan",
    "infinite": "inf",
    "Arabic digit": "٣",
    "superscript": "²",
    "circled digit": "①",
    "underscore": "1_0",
    "half a surrogate pair": "\ud800",
    "zero byte": "\0",
    "emoji": "🦊",
    "very long": "x" * 100_000,
    "many lines": "64, 4, 2, 50\n" * 5_000,
    "a number of a line": "9" * 5_000 + ", 4, 2, 50",
    "commas": "," * 100_000,
    "spaces": " " * 100_000,
    "brackets": "[" * 100_000,
    "a range beyond measure": "0-99999999999",
    "ranges": "1-9," * 20_000,
    "every number": " ".join(map(str, range(20_000))),
    "a vector beyond measure": "1," * 50_000,
    "masks": "causal and " * 10_000,
    "a window beyond measure": "window " + "9" * 5_000,
    "a mask of many numbers": "global " + "9 " * 50_000,
    "paint": "64x64.t" + "A" * 100_000,
    "strokes": "~s1.1" * 20_000,
    "a change beyond measure": "silence 1." + "9" * 5_000,
    "changes": ";".join(f"drop {n}" for n in range(9_999)),
    "HTML": "<script>alert(1)</script>",
}
VALUES = (
    st.sampled_from([*HOSTILE.values()]) | st.integers(-3, 40).map(str) | st.floats().map(str) | st.text(max_size=9)
)
ORDINARY = ["", "true", "FALSE", "12.0", "q3 q5", "2 3", "0,0,1,2", "causal or window 3", "drop 4; drop 4", "a,b"]


@cache
def queries(state: type[State], prefix: str) -> st.SearchStrategy[dict[str, list[str]]]:
    """Links with good and bad values for some fields, and several values for one field."""

    def values(name: str) -> st.SearchStrategy[list[str]]:
        field = controls_of(state)[name][0]
        some = VALUES | st.sampled_from(ORDINARY)
        if isinstance(field, Choice):
            some |= st.sampled_from([*map(as_text, field.options), *field.older])
        return st.lists(some, min_size=1, max_size=2)

    return st.fixed_dictionaries({}, optional={prefix + name: values(name) for name in controls_of(state)})


def correct(query: Query, corrections: Sequence[Correction]) -> Query:
    """The link after `controls.open_link` has corrected it."""
    return {**query, **{c.name: [as_text(c.value)] for c in corrections}}


def limits_of(state: type[State], model: Query):
    return None if state is ModelState else state.limits(state_of(ModelState, "", model))


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(("prefix", "state"), STATES.items(), ids=[state.__name__ for state in STATES.values()])
def test_every_field_takes_a_hostile_value_or_says_what_it_is_now(prefix, state, value):
    limits = limits_of(state, {})
    for name in controls_of(state):
        query = {prefix + name: [value]}
        read_state = state_of(state, prefix, query, limits)
        corrections = read_link(state, prefix, query, limits)
        for correction in corrections:
            assert str(correction).endswith(".")
            assert len(str(correction)) < 600
        assert "\n" not in share_link("https://lab.example", (read_state, prefix))
        assert read_link(state, prefix, correct(query, corrections), limits) == []


@pytest.mark.parametrize(("prefix", "state"), STATES.items(), ids=[state.__name__ for state in STATES.values()])
@given(data=st.data())
def test_a_link_that_was_corrected_needs_no_second_correction_and_stands_for_the_same(prefix, state, data):
    model = data.draw(st.sampled_from(MODELS) | queries(ModelState, ""), label="model")
    query = data.draw(queries(state, prefix), label="query")
    limits = limits_of(state, model)
    read_state, mended = (
        state_of(state, prefix, query, limits),
        correct(query, read_link(state, prefix, query, limits)),
    )
    assert read_link(state, prefix, mended, limits) == []
    assert state_of(state, prefix, mended, limits) == read_state
    shared = {name: [value] for name, value in link_parameters(read_state, prefix).items()}
    assert read_link(state, prefix, shared, limits) == []
    assert state_of(state, prefix, shared, limits) == read_state


@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_a_bad_token_of_a_short_text_is_mended_once(architecture):
    limits = LENSES["attention_"].limits(ModelState(architecture=architecture, seq_len=4))
    query = {"attention_query": ["x"]}
    (correction,) = read_link(LENSES["attention_"], "attention_", query, limits)
    assert correction.value == 4  # the default, 6, is a token that there is not


# The test above reads each of these values for each field; this one reads them for all fields of a lens at once.
OF_PICTURES = ["4301 digits", "4301 digits behind q", "minus many digits", "no number", "Arabic digit", "zero byte"]
OF_PICTURES += ["half a surrogate pair", "a range beyond measure", "a vector beyond measure", "masks", "strokes"]
TEXT = 60  # characters of a hostile text: long texts are drawn in test_scale_laws.py
QUICK = {"num_layers": "1"}  # hostile fields of a lens ask for the longest and most of all that it computes


@cache
def hostile_links(state: type[State], prefix: str) -> list[Asked]:
    """Links of a lens whose fields all have the same hostile value; one of those that stand for the same state."""
    fields = [prefix + field for field in controls_of(state)]
    texts = ["text", "masks_texts"] if "masks_texts" in fields else ["text"] if fields else ["text", "target"]
    links: dict[tuple[State, State], Asked] = {}
    for value in (HOSTILE[kind][:5_000] for kind in OF_PICTURES):
        query = QUICK | dict.fromkeys(fields, value) | dict.fromkeys(texts, value[:TEXT])
        asked = Asked(urlencode(query, errors="surrogatepass"))
        links[asked.model, asked.lens(state, prefix)] = asked
    return [*links.values()]


@pytest.mark.parametrize("prefix", LENSES)
def test_all_pictures_of_a_hostile_link_are_drawn(prefix):
    """Link by link, as the pictures of a lens share what they are drawn from."""
    names, problems = [name for name, picture in PICTURES.items() if picture.prefix == prefix], []
    for asked in hostile_links(LENSES[prefix], prefix):
        for name in names:
            try:
                assert made(name, asked)
            except Exception as problem:
                problems.append(f"{name} of {asked.model}, {asked.lens(LENSES[prefix], prefix)}: {problem!r}"[:3000])
    assert not problems, "\n".join(problems)


def test_a_text_without_tokens_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="expected a text, got one that has no tokens"):
        made("heads", urlencode({"text": HOSTILE["spaces"]}))


@given(st.integers(0, LARGEST))
@example(0)
@example(LARGEST)
def test_a_whole_number_is_read_from_plain_digits(number):
    assert whole_number(str(number)) == whole_number(f"00{number}") == number


@pytest.mark.parametrize("word", ["", "-1", "+1", "1.0", "1_0", " 1", "٣", "²", "①", "x", "1e3"])
def test_nothing_else_is_a_whole_number(word):
    assert whole_number(word) is None


@pytest.mark.parametrize("digits", DIGITS.values(), ids=DIGITS)
def test_a_whole_number_that_is_too_long_for_python_is_the_largest(digits):
    assert whole_number(digits) == LARGEST


def test_a_text_that_is_cut_is_cut_between_whole_signs_of_half_a_pair():
    state = ModelState(text="\ud800" * 20_000)
    assert cuts("https://lab.example", (state, ""))["text"].part
