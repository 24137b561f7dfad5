"""Questions of the Clinic, by view."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from tfm_core.clinic.findings import findings, verdict
from tfm_core.clinic.reading import Reading
from tfm_core.study.mistakes import MISTAKES
from tfm_ui.lenses.clinic.beside import Both, Course
from tfm_ui.lenses.clinic.code import first_step_of_check, said_of
from tfm_ui.lenses.clinic.readings import at_of, reading_of
from tfm_ui.lenses.clinic.state import CASES, ClinicState
from tfm_ui.lenses.clinic.tensor.handed import diagnosed
from tfm_ui.lenses.clinic.tensor.verdict import verdict as verdict_of_tensor
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

EMPTY_ROWS = """tensor([[ True, False, False, False, False],
        [ True,  True, False, False, False],
        [ True,  True,  True, False, False],
        [False, False, False, False, False],
        [False, False, False, False, False]])"""
TEXTBOOK = "mask = (src != 0)[:, None, :, None]"
SIGNS = """■ ⬚ ⬚ ⬚
■ ■ ⬚ ⬚
⬚ ■ ■ ⬚
⬚ ⬚ ■ ■"""


# the mask doctor


def _table(model: ModelState, state: ClinicState) -> tuple[Reading, int] | None:
    """What is read, and the number of the table that is shown; None where nothing is."""
    reading = reading_of(state)
    return (reading, at_of(reading, state)) if isinstance(reading, Reading) else None


def _said(model: ModelState, state: ClinicState) -> str:
    """The verdict and the first finding."""
    shown = _table(model, state)
    if not shown:
        return str(reading_of(state))
    first = next(iter(findings(*shown)), None)
    return " ".join(filter(None, [verdict(*shown), first.consequence if first else ""]))


def hidden_when_added(model: ModelState, state: ClinicState) -> int:
    """How many pairs get no weight when torch's function is handed the table as floats."""
    shown = _table(model, state)
    if not shown:
        return 0
    mask = torch.from_numpy(shown[0].tables[shown[1]]).float()
    rows, columns = mask.shape
    query, key = torch.zeros(1, rows, 4), torch.zeros(1, columns, 4)
    weights = F.scaled_dot_product_attention(query, key, torch.eye(columns)[None], attn_mask=mask)
    return int((weights == 0).sum())


def _about_added(model: ModelState, state: ClinicState) -> str:
    shown = _table(model, state)
    if not shown:
        return str(reading_of(state))
    hidden, pairs = hidden_when_added(model, state), shown[0].tables[shown[1]].size
    return (
        f"Handed over as floats, torch adds it to the scores: {formats.count(hidden)} of {formats.count(pairs)} pairs "
        "get no weight. As booleans it would hide the pairs that are 0."
    )


def rows_without_a_key(model: ModelState, state: ClinicState) -> int:
    """How many queries may see nothing."""
    shown = _table(model, state)
    if not shown or not shown[0].visible:
        return 0
    return int((~shown[0].visible[shown[1]].any(-1)).sum())


# right beside wrong


def _about_mistake(model: ModelState, state: ClinicState) -> str:
    mistake = MISTAKES[state.shown_mistake]
    return f"It is “{state.shown_mistake}”: {mistake.wrong_is}; right is {mistake.right_is}. {mistake.symptom}"


def name_of_mistake(model: ModelState, state: ClinicState) -> str:
    """The mistake that is shown."""
    return state.shown_mistake


def _case(case: str, ask: str, *others: str, because: str) -> Question:
    """A question which of three mistakes is on screen."""
    name = CASES[case]
    return Question(
        f"Which is it, {case}?",
        ask,
        _about_mistake,
        Prediction(ask="It is", measured=name_of_mistake, options=sorted((name, *others))),
        controls={"view": "beside", "case": case},
        link=case.lower().replace(" ", "-"),
        because=because,
    )


def first_step(model: ModelState, state: ClinicState) -> str:
    """The first step that differs."""
    return Both(model, state).first


def _first_step(model: ModelState, state: ClinicState) -> str:
    both, course = Both(model, state), Course(model, state)
    off = [step for step in course.rows if both.pairs[step].differs]
    return f"The {both.first}; all in all {len(off)} of {len(course.rows)} steps differ. {_about_mistake(model, state)}"


# which mistake is in my tensor


def explained_by(model: ModelState, state: ClinicState) -> str:
    """The mistake that gives what was handed in; "none" if there is none."""
    diagnosis = diagnosed(state)[1]
    return " and ".join(diagnosis.explanations[0].names) if diagnosis and diagnosis.explanations else "none"


def _verdict(model: ModelState, state: ClinicState) -> str:
    return verdict_of_tensor(*diagnosed(state))


QUESTIONS: Sequence[Question] = [
    Question(
        "Ones as floats",
        "torch.tril(torch.ones(5, 5)) is handed to torch’s function as it is. How many of 25 pairs get no weight?",
        _about_added,
        Prediction(
            ask="Pairs without weight",
            measured=hidden_when_added,
            hides=["clinic_findings.words", "clinic_verdict.words"],
        ),
        given=["pasted", "upload"],
        controls={"view": "mask"},
    ),
    Question(
        "Rows without a key",
        "Padding was hidden on the query’s axis. How many queries may see nothing, and what does a softmax make of it?",
        _said,
        Prediction(
            ask="Queries that see nothing",
            measured=rows_without_a_key,
            hides=["clinic_findings.words", "clinic_verdict.words"],
        ),
        controls={"view": "mask", "pasted": EMPTY_ROWS},
        because="a mask of the right type can still hide the wrong axis.",
    ),
    Question(
        "A line of code",
        "This line makes a mask of padding. Which axis does it hide, and what happens to padding as a key?",
        _said,
        controls={"view": "mask", "pasted": TEXTBOOK},
        because="a mistake can be found before any mask is computed, in the line that makes it.",
    ),
    Question(
        "Signs",
        "A mask that was drawn with signs: how far does each query see?",
        _said,
        controls={"view": "mask", "pasted": SIGNS},
        because="not everybody has code, and a drawn mask can be examined just like a tensor.",
    ),
    Question(
        "An example",
        "Somebody has handed in these weights. Which mistake gives exactly these numbers?",
        _verdict,
        Prediction(
            ask="The mistake",
            measured=explained_by,
            options=("no scale", "mask forgotten", "scaled twice"),
            hides=["clinic_cure", "clinic_diagnosed.words", "clinic_verdict.words"],
        ),
        controls={"view": "tensor"},
        given=["mistake", "case", "result", "result_file"],
        because="often there is no mask to look at, only weights that came out wrong.",
    ),
    Question(
        "Hand in your own",
        "Take the exercise along, compute the weights with your code, and hand them in: is it right?",
        _verdict,
        controls={"view": "tensor", "seed": 1},
        moves=["seed"],
        because="what works for an example can judge the weights of your own code.",
    ),
    _case(
        "case A",
        "Training gives NaN from the first step, where there is padding. Which of three mistakes is on screen?",
        "padding mask forgotten",
        "no scale",
        because="now the diagnosis is yours, from what goes wrong in training.",
    ),
    _case(
        "case B",
        "A causal model’s weights change when later words do, and its rows do not sum to 1. Which is on screen?",
        "mask forgotten",
        "softmax over the heads",
        because="no NaN gives this mistake away, only weights that react to later words.",
    ),
    _case(
        "case C",
        "Weights and heads are right, the output is not. Which of three mistakes is on screen?",
        "W_O missing",
        "values from the keys",
        because="this time all weights are right, so the mistake must come after them.",
    ),
    _case(
        "case D",
        "The first token gets NaN, all others look fine. Which of three mistakes is on screen?",
        "next token visible",
        "mask inverted",
        because="here a single token suffers, which narrows down where to look.",
    ),
    _case(
        "case E",
        "Shuffled words change nothing, but another order of the batch does. Which is on screen?",
        "no positions",
        "positions from 1",
        because="nothing is NaN here, and a change of order shows what numbers alone hide.",
    ),
    _case(
        "case F",
        "Nobody sees the future, but each row of weights sums to less than 1. Which is on screen?",
        "mask forgotten",
        "dropout active",
        because="nobody sees the future here, so the sums of rows have to give it away.",
    ),
    Question(
        "Where it begins",
        "Values are copied from the keys. Which is the first step that differs?",
        _first_step,
        Prediction(
            ask="The first step",
            measured=first_step,
            options=("weights", "value of each head", "head outputs"),
            hides=["clinic_beside", "clinic_course", "clinic_derived"],
        ),
        controls={"view": "beside", "mistake": "values from the keys"},
        because="naming a mistake is one thing, and finding its first wrong step is another.",
    ),
    Question(
        "A tiny difference",
        "The variance is divided by d_model − 1. By how much does the loss differ in the end?",
        _about_mistake,
        controls={"view": "beside", "mistake": "unbiased variance"},
        because="not every mistake changes much, and small ones are the hardest to notice.",
    ),
    Question(
        "What a report says",
        "A function of attention forgets the scale, and is checked. Which is the first step that differs?",
        said_of,
        Prediction(
            ask="The first step",
            measured=first_step_of_check,
            options=("scores", "weights", "head outputs"),
            hides=["clinic_check.words", "clinic_reports"],
        ),
        controls={"view": "code"},
        given=["check"],
        because="instead of looking by eye, a check compares your code step by step.",
    ),
    Question(
        "Weights are copied",
        "A module’s heads are split without a transpose. How does a check tell this from other weights?",
        said_of,
        controls={"view": "code", "check": "check_multi_head_attention"},
        because="a module brings weights of its own, which a check must not take for a mistake.",
    ),
]
