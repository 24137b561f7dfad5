"""Questions of all lenses: each is a state that a link can hold, no two are the same, and each is answered."""

import fnmatch
import re
from dataclasses import replace

import pytest

from tests.record.addresses import recorded_links
from tests.record.files import read
from tfm_core import TransformerConfig
from tfm_ui.lenses import lenses
from tfm_ui.lenses.attention.questions import QUESTIONS as ATTENTION
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.heads.questions import QUESTIONS as HEADS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.profiling.questions import QUESTIONS as PROFILING
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.answer import CARD
from tfm_ui.page.frame import LEARN
from tfm_ui.page.question_names import END
from tfm_ui.page.question_numbers import NAMES
from tfm_ui.page.questions import MOST_CHARS, MOST_CHARS_OF_WHY, asked, is_at_end, named, neighbour
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import link_parameters, read_link
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

QUESTIONS = [(lens, question) for lens in lenses() for question in lens.questions]
NAMES_OF_QUESTIONS = [f"{lens.name}: {question.name}" for lens, question in QUESTIONS]
OF_NO_MODEL = {"training": ("learn", "decode", "classify", "compare", "deep", "sizes", "finetune")}  # their own tasks
OTHER = {"text": "to be or not to be", "num_heads": 8, "num_layers": 3, "d_model": 64, "seed": 3, "positional": "rope"}
QUICK = {"distance": {"reach_seeds": 3}}  # as few draws as can be chosen


@pytest.mark.parametrize(("lens", "question"), QUESTIONS, ids=NAMES_OF_QUESTIONS)
def test_a_question_is_a_state_that_a_link_can_hold(lens, question):
    model = ModelState(**question.model)
    for state, prefix, limits in (
        (model, "", None),
        (lens.state(**question.controls), lens.prefix, lens.state.limits(model)),
    ):
        query = {name: [value] for name, value in link_parameters(state, prefix).items()}
        assert read_link(type(state), prefix, query, limits) == []
    assert isinstance(model.config, TransformerConfig)
    assert "?" in question.ask
    assert len(question.ask) <= MOST_CHARS


@pytest.mark.parametrize(("lens", "question"), QUESTIONS, ids=NAMES_OF_QUESTIONS)
def test_the_place_of_the_main_picture_is_never_empty(lens, question):
    """What a view shows first stands on the stage; what refines it stands below, also where the first has nothing."""
    shown = lens.blocks(ModelState(**question.model), lens.state(**question.controls))
    assert shown[0] is not None


@pytest.mark.parametrize(("lens", "question"), QUESTIONS, ids=NAMES_OF_QUESTIONS)
def test_a_question_is_answered_by_what_is_on_screen(lens, question):
    """The answer is the recorded one; tests/record/test_links.py says that it is what is answered today."""
    link = next(link for link in recorded_links() if (link.lens, link.question) == (lens.name, question.name))
    said = read(link)["question"]
    assert said["name"] == question.name
    is_answered(question, said["answer"], said.get("predict", {}).get("measured"))


@pytest.mark.parametrize(("lens", "question"), QUESTIONS, ids=NAMES_OF_QUESTIONS)
def test_a_question_is_answered_of_another_model_too(lens, question):
    model, page = (
        ModelState(**{**question.model, **OTHER}),
        {**question.controls, **QUICK.get(question.controls.get("view"), {})},
    )
    state = lens.state(**page)
    measured = question.predict.measured(model, state) if question.predict else None
    is_answered(question, question.answer(model, state), measured)


def is_answered(question, answer, measured):
    assert answer.strip().endswith(".")
    assert len(answer) < 700
    if predict := question.predict:
        assert measured in predict.options if predict.options else isinstance(measured, int | float)


NOT_RECORDED = {
    "notes",
    "masks_code",
    "clinic_findings.words",
    "clinic_verdict.words",
    "clinic_check.words",
}  # notes, and what Streamlit alone draws
PREDICTED = [(lens, question) for lens, question in QUESTIONS if question.predict]


@pytest.mark.parametrize(("lens", "question"), PREDICTED, ids=lambda each: each.name)
def test_what_is_predicted_is_said_nowhere_but_behind_the_veil(lens, question):
    """A number of three digits or more is looked for in all that the page says; shorter ones stand for other things."""
    recorded = read(next(link for link in recorded_links() if (link.lens, link.question) == (lens.name, question.name)))
    panels, measured = recorded["panels"], recorded["question"]["predict"]["measured"]
    cards = {name for name in question.predict.hides if name.startswith(CARD)}
    assert {name.replace(CARD, f"{lens.name}_") for name in cards} <= recorded.get("pictures", {}).keys()
    hides = [name.partition(".")[0] for name in question.predict.hides if name not in {*NOT_RECORDED, *cards}]
    hidden = {key for name in hides for key in fnmatch.filter(panels, name)}
    assert len(hidden) >= len(hides)
    if isinstance(measured, str) or len(re.sub(r"\D", "", f"{measured:.3g}").strip("0")) < 3:
        return
    written = {f"{measured:.4g}", f"{measured:.3g}", f"{measured:,.0f}", f"{measured:.1f}", formats.number(measured)}
    for key in panels.keys() - hidden:
        said = " ".join([panels[key]["sentence"], *panels[key].get("laws", ())])
        assert not {*re.findall(r"[\d,.]*\d", said)} & {number for number in written if len(number) > 2}, key


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_each_view_has_two_questions_in_the_order_of_its_tabs(lens):
    views = [question.view(lens.state) for question in lens.questions]
    order = list(lens.views) if "view" in controls_of(lens.state) else [""]
    assert views == sorted(views, key=order.index)
    assert all(views.count(view) >= 2 for view in order)


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_no_two_questions_are_the_same(lens):
    for question in lens.questions:
        model, state = ModelState(**question.model), lens.state(**question.controls)
        assert [other.name for other in lens.questions if other.holds(model, state)] == [question.name]
    assert len({question.name for question in lens.questions}) == len(lens.questions)


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_a_question_has_a_name_in_links_and_every_number_of_earlier_days_stands_for_one(lens):
    names = [question.link for question in lens.questions]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]{2,39}", name) for name in names)
    assert set(NAMES.get(lens.name, "").split()) <= set(names)


@pytest.mark.parametrize(("lens", "question"), QUESTIONS, ids=NAMES_OF_QUESTIONS)
def test_a_text_is_true_of_its_set_up_and_not_where_something_differs_that_it_speaks_of(lens, question):
    model, state = ModelState(**question.model), lens.state(**question.controls)
    assert question.is_true(model, state)
    assert set(question.moves) <= {*question.model, *question.controls}
    fields, of_model = controls_of(lens.state), controls_of(ModelState)
    for name in question.speaks_of:
        at = state if name in fields else model
        (_, default), now = (fields if at is state else of_model)[name], getattr(at, name)
        changed = replace(at, **{name: another(now, default)})
        assert not (question.is_true(model, changed) if at is state else question.is_true(changed, state)), name
    for name in {*question.moves} - {"changes"}:
        at = state if name in fields else model
        changed = replace(at, **{name: another(getattr(at, name), None)})
        assert question.is_true(model, changed) if at is state else question.is_true(changed, state), name


def another(value, default):
    """Another value; whether it is one that a control has does not matter."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"another {value}"


# A word of a question's text -> the field that it speaks of.
SPOKEN_OF = {
    "Lab GPT": "weights",
    "[Tt]rained (to|on letters)": "weights",
    "Random weights|[Nn]obody has trained": "weights",
    "Causal is off": "causal",
    "Positions are off": "positional",
    "ALiBi lowers": "positional",
    "[Pp]ost-norm": "norm|shape",
    "learning rate of": "rate",
    "[Dd]ropout of": "dropout|depth_dropout",
}


@pytest.mark.parametrize(("lens", "question"), QUESTIONS, ids=NAMES_OF_QUESTIONS)
def test_what_a_text_names_it_takes_for_granted(lens, question):
    if question.view(lens.state) in OF_NO_MODEL.get(lens.name, ()):
        return
    for words, fields in SPOKEN_OF.items():
        if re.search(words, question.ask):
            assert question.speaks_of & {*fields.split("|")}, words
    read = ModelState(**question.model).text.split()
    quoted = {word.strip() for word in re.findall("“(.+?)”", question.ask)}
    if quoted & {*read}:
        assert "text" in question.speaks_of


# Names with which a reason may begin; every other word there is in small letters, as the sentence has begun before it.
BEGIN = ("Lab GPT", "SmolLM2", "BERT", "GPT-2", "ALiBi", "RoPE", "T5", "ReLU", "SwiGLU")
EMPTY_WORDS = "interesting|important|learn more|you will see|as well|take a look"
AFTER_ANOTHER = [(lens, question) for lens in lenses() for question in lens.questions[1:]]


def fault_of_because(because: str) -> str:
    """What is wrong with a reason for the next question; "" if nothing is."""
    if not because:
        return "there is none"
    if len(because) > MOST_CHARS_OF_WHY:
        return f"it has {len(because)} characters, {MOST_CHARS_OF_WHY} at most have room"
    if not because[0].islower() and because[0] not in "“√" and not because.startswith(BEGIN):
        return "it goes on in the middle of a sentence, so it begins with a small letter"
    if not because.endswith(".") or re.search(r"[.!?:;]", because[:-1]):
        return "it is the end of one sentence, with one full stop"
    if because.startswith("because ") or re.search(EMPTY_WORDS, because):
        return "it says nothing: name what this question adds to the one before it"
    return ""


@pytest.mark.parametrize(("lens", "question"), AFTER_ANOTHER, ids=lambda each: each.name)
def test_below_the_answer_before_it_stands_why_a_question_is_asked(lens, question):
    before = neighbour(lens.questions, question, -1)
    wrong = fault_of_because(question.because)
    assert not wrong, (
        f"{lens.title}: the question “{question.name}” needs `because`, and of {question.because!r} this is wrong: "
        f"{wrong}. Below the answer of “{before.name}” is written “Next: {question.name}, because …”. Give it the end "
        f"of that sentence, such as because=“the same head may look elsewhere once the words lose their order.”: what "
        f"it adds to “{before.name}”, true of any model, in {MOST_CHARS_OF_WHY} characters."
    )


def test_no_two_questions_have_the_same_reason_and_the_first_of_a_lens_has_none():
    reasons = [question.because for _, question in AFTER_ANOTHER]
    assert sorted(set(reasons)) == sorted(reasons)
    assert [lens.name for lens in lenses() if lens.questions[0].because] == []  # nobody would read it


@pytest.mark.parametrize(
    ("because", "wrong"),
    [
        ("", "there is none"),
        ("the same head may look elsewhere once the words lose their order.", ""),
        ("Lab GPT has learned from prose.", ""),
        ("The same head may look elsewhere.", "begins with a small letter"),
        ("the same head may look elsewhere", "one full stop"),
        ("one head is not all. Others differ.", "one full stop"),
        (f"{'so ' * 30}on.", "has 93 characters"),
        ("because it looks elsewhere.", "says nothing"),
        ("it is interesting.", "says nothing"),
    ],
)
def test_what_is_wrong_with_a_reason_is_told(because, wrong):
    assert (wrong in fault_of_because(because)) if wrong else not fault_of_because(because)


def test_a_set_up_is_left_as_soon_as_one_value_differs():
    assert HEADS[0].holds(ModelState(), HeadsState())
    assert HEADS[0].holds(ModelState(), HeadsState(question="looking-ahead"))
    for name, (_, default) in controls_of(ModelState).items():
        other = not default if isinstance(default, bool) else type(default)(f"1{default}")
        assert not HEADS[0].holds(ModelState(**{name: other}), HeadsState())
    assert not HEADS[0].holds(ModelState(), HeadsState(head=2))


def test_who_measures_as_a_question_asks_has_not_left_its_set_up():
    assert PROFILING[0].holds(ModelState(), ProfilingState(run="8f2k"))
    assert not PROFILING[0].holds(ModelState(), ProfilingState(run="8f2k", rounds=4))


def test_a_view_that_is_opened_asks_its_first_question_and_a_link_any_of_its_others():
    for view in ("steps", "arcs", "dictionary"):
        of_view = [question for question in ATTENTION if question.view(AttentionState) == view]
        assert asked(ATTENTION, AttentionState(view=view)) is of_view[0]
        second = AttentionState(view=view, question=of_view[1].link)
        assert asked(ATTENTION, second) is of_view[1]
        assert asked(ATTENTION, replace(second, head=2)) is of_view[1]
        assert asked(ATTENTION, AttentionState(view=view, question="of-no-name")) is of_view[0]
    assert asked(ATTENTION, AttentionState(view="arcs", question="step-by-step")).view(AttentionState) == "arcs"


def test_questions_are_walked_from_the_first_to_the_last():
    first, last = HEADS[0], HEADS[-1]
    assert neighbour(HEADS, first, -1) is None
    assert neighbour(HEADS, last, 1) is None
    assert neighbour(HEADS, first, 1) is HEADS[1]
    assert neighbour(HEADS, last, -1) is HEADS[-2]


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_after_the_last_question_one_is_told_what_comes_next_and_why(lens):
    titles = {each.name: each.title for each in lenses()} | {LEARN: "Learn"}
    following = [*titles][[*titles].index(lens.name) + 1]
    assert (lens.leads_on.name, lens.leads_on.title) == (following, titles[following])
    said = lens.leads_on.after(lens.title)
    assert said.startswith(f"That was the last question of {lens.title}. Next comes {titles[following]}: ")
    assert re.fullmatch(r"[a-z][^.!?]{20,}\.", lens.leads_on.why)
    assert len(said) <= MOST_CHARS
    assert END not in {question.link for question in lens.questions}


def test_the_end_is_that_of_the_view_of_the_last_question():
    last = ATTENTION[-1]
    at_end = AttentionState(view=last.view(AttentionState), question=END)
    assert asked(ATTENTION, at_end) is named(ATTENTION, END) is last
    assert is_at_end(ATTENTION, at_end, last)
    assert not is_at_end(ATTENTION, replace(at_end, question=last.link), last)
    elsewhere = AttentionState(view="arcs", question=END)
    assert not is_at_end(ATTENTION, elsewhere, asked(ATTENTION, elsewhere))
