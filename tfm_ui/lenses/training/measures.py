"""What lessons measure on the pages of the Training lens."""

import math
from collections.abc import Callable, Mapping, Sequence

from tfm_core.training.baselines import trained_on
from tfm_core.training.comparison import Entry
from tfm_ui.lenses.training.classify.curves import Classify
from tfm_ui.lenses.training.compare.measures import MEASURES as COMPARED_BY
from tfm_ui.lenses.training.decode.held_out import DecodeExposure, DecodeMistakes
from tfm_ui.lenses.training.decode.spans import DecodeSpan
from tfm_ui.lenses.training.decode.written import Decode
from tfm_ui.lenses.training.finetune.asked import ASKED
from tfm_ui.lenses.training.learn.learned import Learn
from tfm_ui.lenses.training.outcomes import comparison_of, is_recurrent
from tfm_ui.lenses.training.panels import RunPanel
from tfm_ui.lenses.training.runs import size_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

LEVEL = "neither"
PANELS: Mapping[str, type[RunPanel]] = {"decode": Decode, "classify": Classify}


def _best(state: TrainingState, *, recurrent: bool) -> float:
    comparison = comparison_of(state.task)
    entries = comparison.contestants if comparison else ()
    return max((entry.median("accuracy") for entry in entries if is_recurrent(entry) is recurrent), default=0.0)


def _by(field: str, state: TrainingState) -> dict[int | str, Entry]:
    """What a field of the configuration is -> the network of the comparison, of those that otherwise are as the first.

    Nothing if nothing was computed.
    """
    if not (comparison := comparison_of(state.task)):
        return {}
    base = comparison.entries[0].config
    others = {"network", "positional", "num_layers", "num_heads", "norm"} - {field}
    return {
        getattr(entry.config, field): entry
        for entry in comparison.entries
        if entry.outcomes and all(getattr(entry.config, name) == getattr(base, name) for name in others)
    }


def _panel(model: ModelState, state: TrainingState) -> RunPanel:
    """The run on screen; of the view "compare" that of its task."""
    return PANELS.get(state.view, Learn)(model, state)


def ahead_on_labels(model: ModelState, state: TrainingState) -> str:
    """Who is ahead on held-out labels, more than chance can make: "the network", "a bag of words" or "neither"."""
    panel = _panel(model, state)
    ahead = panel.who_is_ahead if isinstance(panel, Classify) else 0
    return {1: "the network", -1: "a bag of words"}.get(ahead, "neither")


def ended_early(model: ModelState, state: TrainingState) -> str:
    """Whether the run ended before its last step because its numbers had grown too large: "yes" or "no"."""
    return "yes" if _panel(model, state).run.problem else "no"


def first_loss(model: ModelState, state: TrainingState) -> float:
    """The loss on held-out examples at the first point of the run, nats: before training, if that was measured."""
    return _panel(model, state).run.points[0].loss


def held_out_loss(model: ModelState, state: TrainingState) -> float:
    """The loss on held-out examples at the last point of the run, nats."""
    return _panel(model, state).run.last.loss


def loss_of_guessing(model: ModelState, state: TrainingState) -> float:
    """The loss of guessing evenly among all that the output can say, nats."""
    return math.log(_panel(model, state).config.about.outcomes)


def network_parameters(model: ModelState, state: TrainingState) -> int:
    """How many parameters are trained."""
    return size_of(_panel(model, state).config)


def one_head_right(model: ModelState, state: TrainingState) -> float:
    """The share of right answers of the transformer with one head, the median over its seeds; 0 without one."""
    entry = _by("num_heads", state).get(1)
    return entry.median("accuracy") if entry else 0.0


def one_or_two_heads(model: ModelState, state: TrainingState) -> str:
    """Which of two transformers that differ in the heads alone is ahead, by the measure on screen; "neither" if the
    seeds do not tell, or if nothing was computed."""
    both = _by("num_heads", state)
    if not {1, 2} <= both.keys():
        return LEVEL
    return {1: "one head", -1: "two heads"}.get(COMPARED_BY[state.measure].ahead(both[1], both[2]), LEVEL)


def exact(model: ModelState, state: TrainingState) -> float:
    """The share of held-out examples that the run of the view "decode" has right as a whole."""
    return DecodeMistakes(model, state).exact


def exact_by_rule(model: ModelState, state: TrainingState) -> float:
    """The share of them that the way without a network has right; 0 of a task that names none."""
    return DecodeMistakes(model, state).by_rule or 0.0


def mistaken(model: ModelState, state: TrainingState) -> int:
    """How many held-out examples the run of the view "decode" has not right as a whole."""
    return int((~DecodeMistakes(model, state).is_right).sum())


def outcomes(model: ModelState, state: TrainingState) -> int:
    """How many answers the output can choose from."""
    return _panel(model, state).config.about.outcomes


def pre_or_post(model: ModelState, state: TrainingState) -> str:
    """Which of two transformers that differ in the norm alone is ahead, by the measure on screen; "neither" if the
    seeds do not tell, or if nothing was computed."""
    both = _by("norm", state)
    if len(both) < 2:
        return LEVEL
    ahead = COMPARED_BY[state.measure].ahead(both["pre"], both["post"])
    return {1: "pre-norm", -1: "post-norm"}.get(ahead, LEVEL)


def recurrent_right(model: ModelState, state: TrainingState) -> float:
    """The share of right answers of the best recurrent network of the task on screen, the median over its seeds."""
    return _best(state, recurrent=True)


def right(model: ModelState, state: TrainingState) -> float:
    """The share of held-out answers that are right at the last point of the run."""
    return _panel(model, state).run.last.accuracy


def right_written(model: ModelState, state: TrainingState) -> int:
    """How many tokens of the answer on screen the view "decode" has right; of a span, how many of its two ends."""
    written = Decode(model, state)
    return written.right if written.is_shown else DecodeSpan(model, state).right_ends


def source_tokens(model: ModelState, state: TrainingState) -> int:
    """How many tokens the source on screen of the view "decode" has."""
    return len(Decode(model, state).source)


def source_typed(model: ModelState, state: TrainingState) -> str:
    """Whether the view "decode" reads a source that somebody has typed: "yes" or "no"."""
    return "yes" if state.source.strip() and not Decode(model, state).problem else "no"


def steps_done(model: ModelState, state: TrainingState) -> int:
    """How many steps of the run on screen are made."""
    return _panel(model, state).run.done


def steps_of_epoch(model: ModelState, state: TrainingState) -> int:
    """How many steps it takes to see each training example once; 0 of a task whose examples are made up anew."""
    config = _panel(model, state).config
    return math.ceil(len(trained_on(config)) / config.batch_size) if config.about.examples else 0


def steps_planned(model: ModelState, state: TrainingState) -> int:
    """How many steps the run on screen has in all."""
    return _panel(model, state).config.steps


def two_heads_right(model: ModelState, state: TrainingState) -> float:
    """The share of right answers of the transformer with two heads, the median over its seeds; 0 without one."""
    entry = _by("num_heads", state).get(2)
    return entry.median("accuracy") if entry else 0.0


def transformer_right(model: ModelState, state: TrainingState) -> float:
    """The share of right answers of the best transformer of the task on screen, the median over its seeds."""
    return _best(state, recurrent=False)


def answer_tokens(model: ModelState, state: TrainingState) -> int:
    """How many tokens the right answer to the source of the view "decode" has, its end among them; of a span, two."""
    return len(Decode(model, state).answers)


def wrong_after_own(model: ModelState, state: TrainingState) -> float:
    """The share of wrong tokens after each example's first mistake when the decoder goes on alone; 0 without one."""
    told = DecodeExposure(model, state)
    return told.wrong_after_own if told.is_shown else 0.0


def wrong_after_right(model: ModelState, state: TrainingState) -> float:
    """The same share when it is given the right tokens; 0 without a mistake."""
    told = DecodeExposure(model, state)
    return told.wrong_after_right if told.is_shown else 0.0


OF_PAGES: Sequence[Callable[[ModelState, TrainingState], float | str]] = (
    ahead_on_labels,
    answer_tokens,
    ended_early,
    exact,
    exact_by_rule,
    first_loss,
    held_out_loss,
    loss_of_guessing,
    mistaken,
    network_parameters,
    one_head_right,
    one_or_two_heads,
    outcomes,
    pre_or_post,
    recurrent_right,
    right,
    right_written,
    source_tokens,
    source_typed,
    steps_done,
    steps_of_epoch,
    steps_planned,
    transformer_right,
    *ASKED,
    two_heads_right,
    wrong_after_own,
    wrong_after_right,
)
MEASURES = {measure.__name__: measure for measure in OF_PAGES}
