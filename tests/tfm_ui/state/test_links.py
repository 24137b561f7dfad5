"""Links are short enough to be sent, and carry the beginning of a text, cut between characters."""

from dataclasses import dataclass
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.lenses import lenses
from tfm_ui.lenses.attention.changes import Changes
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.trail import At, SourceCode, Trail, written
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.fields import Choice, Flag, Name, Number, Whole, control, controls_of
from tfm_ui.state.links import LINK_CHARS, TEXT_CHARS, as_text, cuts, first_part, read_link, share_link, state_of
from tfm_ui.state.lists import Numbers, Vectors
from tfm_ui.state.model_state import CHARS, ModelState, WeightsName

LONGEST_NAME = (
    "reverse-decoder,d_model=250,num_heads=10,num_layers=6,positional=sinusoidal,norm=post,"
    "learning_rate=0.00123456789012,warmup=9999,batch_size=1023,dropout=0.123456789012,weight_decay=0.123456789012,steps=19999,seed=9999,"
    "file=0123456789ab"
)
BASE = "https://attention-lab.example.org/heads"
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("é🦊👩‍👩‍👧‍👦🇩🇪 +%&=", min_size=200, max_size=2500)


def query(link: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(link).query, keep_blank_values=True).items()}


@given(text=TEXTS, target=TEXTS)
def test_a_link_is_never_too_long_and_brings_back_what_it_did_not_cut(text, target):
    state = ModelState(text=text, target=target, architecture="encoder-decoder", seed=9999)
    link, cut = share_link(BASE, (state, "")), cuts(BASE, (state, ""))
    assert len(link) <= LINK_CHARS
    for name in ("text", "target"):
        default = controls_of(ModelState)[name][1]
        got = query(link).get(name, default)
        assert got == (cut[name].part if name in cut else getattr(state, name))
        assert getattr(state, name).startswith(got)
        assert name not in cut or cut[name].whole == getattr(state, name) != got


def _longest(field, default, *, trained=False):
    match field:
        case Choice():
            options = field.options
        case Whole():
            options = (field.high, field.high - 1)
        case Flag():
            options = (not default,)
        case Number():
            options = (field.read(str(field.low * 1.023456), default)[0],)
        case Numbers():
            options = ("9" * field.max_chars,)
        case Vectors():
            vector = ",".join(f"{low + 0.01:g}" for low, _ in field.ranges)
            named = [
                " ".join(f"{sign * length}:{vector}" for sign in "pqrstu"[: field.most]) for length in range(1, 13)
            ]
            options = (" ".join([vector] * field.most), *(field.read(text, default)[0] for text in named))
        case Name():
            options = (max((question.link for lens in lenses() for question in lens.questions), key=len),)
        case WeightsName():
            options = (LONGEST_NAME,) if trained else (default,)
        case Changes():
            many = [[f"replace {n} {sign * 20}" for n in range(10, 40)] for sign in "x日🦊"]
            many += [[f"drop {n}" for n in range(1, 100)], [f"weight 1.1 {n}>1 0.5" for n in range(1, 100)]]
            options = tuple(field.read("; ".join(changes), default)[0] for changes in many)
        case Trail():
            options = (written([At("cross", 128, 16, 1024, 1024, "k")] * 9),)
        case SourceCode():
            options = ("embedding@1024", "e128x16@1024")
        case _:
            options = ("🦊" * CHARS,)
    possible = (option for option in options if option != default)
    return max(possible, key=lambda o: len(quote_plus(str(o))), default=default)


def _all_at_their_longest(page, prefix, *, trained=False):
    return [
        (kind(**{name: _longest(*control, trained=trained) for name, control in controls_of(kind).items()}), before)
        for kind, before in ((ModelState, ""), (page, prefix))
    ]


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize(("page", "prefix"), [(HeadsState, "heads_"), (AttentionState, "attention_")])
def test_everything_at_its_longest_fits_and_leaves_room_for_a_text(page, prefix, trained):
    states = _all_at_their_longest(page, prefix, trained=trained)
    assert len(share_link(BASE, *states)) <= LINK_CHARS
    foxes = len(cuts(BASE, *states)["text"].part)  # of twelve characters each
    assert foxes >= (1 if trained else 5)  # trained weights read digits and letters, of two characters each


def test_changes_in_signs_that_are_long_in_a_link_are_measured_as_they_stand_there():
    nine = "; ".join(f"replace {n} {'日' * 20}" for n in range(1, 10))
    query = {"attention_changes": [nine], "attention_pinned": [nine]}
    state = state_of(AttentionState, "attention_", query)
    assert state.changes == f"replace 1 {'日' * 20}"
    assert state.pinned == ""  # each takes 196 characters, of which A’s changes have 120
    assert len(share_link(BASE, (ModelState(), ""), (state, "attention_"))) <= LINK_CHARS
    corrections = read_link(AttentionState, "attention_", query)
    assert len(corrections) == 2
    for correction, room in zip(corrections, (300, 120), strict=True):
        assert f"a link holds {room} characters of changes" in str(correction)


def test_whatever_else_is_set_texts_have_the_same_room():
    states = _all_at_their_longest(HeadsState, "heads_")  # not so where a link may hold lists and changes
    alone = ModelState(text="🦊" * CHARS, target="🦊" * CHARS)
    assert len(share_link(BASE, *states)) <= LINK_CHARS - 150  # for the fields of lenses to come
    assert cuts(BASE, *states) == cuts(BASE, (alone, ""))
    assert len(cuts("https://" + "x" * 700, *states)["text"].part) < len(cuts(BASE, *states)["text"].part)


@dataclass(frozen=True)
class Sorted:
    """A state whose views "by size" and "by name" became one, with a field for the order."""

    view: str = control(Choice("View", ("few", "all"), older={"by size": ("all", {"order": "size"})}), default="few")
    order: str = control(Choice("Order", ("name", "size")), default="name")


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ({"view": ["by size"]}, Sorted(view="all", order="size")),
        ({"view": ["few", "by size"]}, Sorted(view="all", order="size")),
        ({"view": ["by size"], "order": ["name"]}, Sorted(view="all", order="name")),  # what is written out counts
        ({"view": ["all"]}, Sorted(view="all")),
        ({"view": ["by length"]}, Sorted()),
    ],
)
def test_an_option_of_earlier_links_stands_for_another_with_the_fields_that_belong_to_it(given, state):
    query = {f"toy_{name}": values for name, values in given.items()}
    assert state_of(Sorted, "toy_", query) == state
    corrections = read_link(Sorted, "toy_", query)
    mended = query | {correction.name: [correction.value] for correction in corrections}
    assert read_link(Sorted, "toy_", mended) == []
    assert state_of(Sorted, "toy_", mended) == state


def test_of_an_option_of_earlier_links_nothing_is_said():
    corrections = read_link(Sorted, "toy_", {"toy_view": ["by size"]})
    assert {(c.name, c.value, c.reason) for c in corrections} == {("toy_view", "all", ""), ("toy_order", "size", "")}


def test_what_a_short_text_leaves_is_there_for_the_long_one():
    def room(target):
        return len(cuts(BASE, (ModelState(text="x" * CHARS, target=target), ""))["text"].part)

    assert room("short") == TEXT_CHARS - len("short")
    assert room("y" * CHARS) == TEXT_CHARS // 2


@pytest.mark.parametrize(
    ("text", "room", "part"),
    [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("a b", 2, "a "),  # a space is one sign in a link
        ("né", 6, "n"),  # é as %C3%A9 needs six by itself
        ("ne\u0301", 7, "n"),  # an e without its accent would be another letter
        ("🦊🦊", 23, "🦊"),
        ("👍🏽👍🏽", 40, "👍🏽"),
        ("a👩‍👧", 30, "a"),  # a family is not left without its child
        ("🇩🇪🇫🇷", 40, "🇩🇪"),
        ("🇩🇪🇫🇷", 24, "🇩🇪"),
        ("\u1100\u1161\u11a8" * 2, 45, "\u1100\u1161\u11a8"),  # a syllable of Hangul, of three letters
        ("e" + "\u0301" * 9, 13, "e\u0301\u0301"),  # nothing but marks: better a part than nothing
        ("abc", 0, ""),
    ],
)
def test_a_text_is_cut_between_signs(text, room, part):
    assert first_part(text, room) == part


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [("seq_len", "12.0", 12), ("seq_len", " 12", 12), ("seed", "1e2", 100), ("causal", "FALSE", False)],
)
def test_what_is_written_oddly_is_written_plainly_and_that_is_said(name, raw, value):
    (correction,) = read_link(ModelState, "", {name: [raw]})
    assert (correction.value, correction.reason) == (value, "there is a plainer way to write it")
    assert read_link(ModelState, "", {name: [as_text(value)]}) == []
