"""The comparison that a link is about: what is kept of it, or has come out so far; and what networks are called."""

from tfm_core import alibi_slopes
from tfm_core.training.compare import Compared
from tfm_core.training.comparison import Comparison, Entry
from tfm_core.training.outcomes import OUTCOMES
from tfm_ui.jobs import sessions
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

JOB = "compare"
NAMES = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN"}


def comparison_of(task: str) -> Comparison | None:
    """The kept comparison of a task; while there is none, what has come out so far; None if there is nothing."""
    if kept := OUTCOMES.find(task):
        return kept
    step = sessions.latest(JOB, task)
    return step.comparison if isinstance(step, Compared) and step.comparison.contestants else None


def name_of(entry: Entry, comparison: Comparison) -> str:
    """What a network is called beside the others: only what differs from the first transformer is said."""
    config, base = entry.config, comparison.base
    if config.network != base.network:
        return NAMES[config.network]
    changed = [
        f"{config.norm}-norm" if config.norm != base.norm else "",
        formats.plural(config.num_layers, "layer") if config.num_layers != base.num_layers else "",
        formats.plural(config.num_heads, "head") if config.num_heads != base.num_heads else "",
    ]
    return " · ".join(["transformer", config.positional, *filter(None, changed)])


def in_a_sentence(entry: Entry, comparison: Comparison) -> str:
    """The network with its article."""
    kind, *what = name_of(entry, comparison).split(" · ")
    if not what:
        return f"the {kind}"
    scheme, *changed = what
    return (
        f"the {kind} with {formats.listed([f'{scheme} positions' if scheme != 'none' else 'no positions', *changed])}"
    )


def is_recurrent(entry: Entry) -> bool:
    """Whether it reads one token after the other."""
    return entry.config.network != "transformer"


GENTLE = 0.5  # a bias below it changes a weight by less than half


def common(comparison: Comparison) -> str:
    """What all networks share, and what the transformers are where their names say nothing else."""
    base = comparison.base
    slope = alibi_slopes(base.num_heads).max().item()
    bias = slope * (base.about.length - 1)
    heads = formats.plural(base.num_heads, "head")
    gentle = (
        f" With {heads} alibi’s steepest slope is {formats.number(slope)} a token, so scores fall by at most "
        f"{formats.number(bias)} over {base.about.length} tokens: hardly a trace of order."
    )
    return (
        f"{formats.count(base.steps)} steps of {base.batch_size} examples, the same for all; "
        f"{formats.plural(len(comparison.seeds), 'seed')}. Where a name says nothing else, transformers have "
        f"{base.positional} positions, {base.norm}-norm, {formats.plural(base.num_layers, 'layer')} and "
        f"{heads}.{gentle * (bias < GENTLE)}"
    )


def badge(model: ModelState, state: TrainingState) -> str:
    """The facts beside the tabs: how many networks are on screen. The sidebar's model is not on this page."""
    comparison = comparison_of(state.task)
    if comparison is None:
        return "○ Nothing is computed yet"
    runs = sum(len(entry.outcomes) for entry in comparison.entries)
    networks = formats.plural(len(comparison.contestants), "network")
    return f"◐ {networks} · {formats.plural(runs, 'run')} on {comparison.task}"
