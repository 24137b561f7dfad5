"""What the panels of this lens share: the run or the comparison that they are about, and what is told of it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any, ClassVar, TypeVar

from tfm_core import POSITIONAL, TrainingConfig
from tfm_core.training.compare import compare
from tfm_core.training.comparison import Comparison
from tfm_core.training.config import read_name
from tfm_core.training.run import Point, Run
from tfm_core.training.schedule import FLAT
from tfm_core.training.tasks.task import Task
from tfm_core.training.train import BETA1
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.runs import is_under_way, run_of, shown_config, shown_run, size_of, why_not
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.script import Code, script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Block, Note, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

GENTLE = 0.5  # a bias below it changes a weight by less than half
NOT_YET = "Nothing of it is trained yet: press Train, and ask again."
NOTHING = "Nothing of this is computed yet: press Compare, and ask again."
KINDS = {"decoder": "decoder-only"}  # as all pages call it
ABOVE = 0.5  # nats: by so much weights as they are drawn may guess worse than evenly


def held_out_needs(*_: object) -> int:
    """What networks take that are run on all held-out examples of a task; both have sizes of their own."""
    return 3 * LITTLE


class TrainingPanel(Panel):
    """A panel of this lens. It shows no sidebar's model, but jobs, which the server's process alone knows."""

    state: TrainingState
    uses_model = False
    shows_jobs = True
    needs = held_out_needs

    @property
    def is_known(self) -> bool:
        """Whether anything was trained, or computed, that questions can be answered from."""
        return self.is_shown


class RunPanel(TrainingPanel):
    """A panel about the run that the link describes."""

    task_field: ClassVar[str] = "task"
    """The field of the state that names the task of the view."""

    @classmethod
    def asked(cls, state: TrainingState) -> TrainingState:
        """The same controls with the task of the view as the task."""
        return replace(state, task=getattr(state, cls.task_field))

    @classmethod
    def refusal(cls, model: ModelState, state: TrainingState) -> Note | None:
        """Why this is not trained here; None if it is."""
        reason = why_not(cls.asked(state))
        return Note(reason, "warning", ":material/edit:") if reason else None

    @classmethod
    def badge(cls, model: ModelState, state: TrainingState) -> str:
        """The facts beside the tabs: random, or trained, and on what. The sidebar's model is not on this page."""
        config = shown_config(cls.asked(state))
        run = run_of(config)
        size = f"{config.num_layers} × {config.num_heads}"
        if is_under_way(config):
            return f"◐ Being trained on {config.task} · seed {config.seed} · {size}"
        if run is None:
            return "○ Random weights: not trained yet"
        whole = "Trained" if run.is_complete else "Partly trained"
        return f"◐ {whole} on {config.task} · seed {config.seed} · {size}"

    @classmethod
    def patterns(cls, model: ModelState, state: TrainingState) -> list[Block]:
        """Where attention should look, and why."""
        patterns = shown_config(cls.asked(state)).about.patterns
        return [Note(f"“{pattern.name}”: {pattern.why}", "plain") for pattern in patterns]

    @classmethod
    def facts(cls, model: ModelState, state: TrainingState) -> Note:
        """What the run is made of, also what "auto" stands for."""
        config = shown_config(cls.asked(state))
        layers, heads = formats.plural(config.num_layers, "layer"), formats.plural(config.num_heads, "head")
        kind = KINDS.get(config.about.architecture, config.about.architecture)
        parts = [
            f"{kind}, {layers}, {heads}, d_model {config.d_model}, {config.positional} positions",
            f"{config.norm}-norm",
            *([f"pooling: {config.pooling}"] if config.about.classes else []),
            config.activation,
            f"{_optimizer(config)}, learning rate {config.learning_rate:g}{_schedule(config)}",
            f"gradients cut to a norm of {config.clip:g}" if config.clip else "gradients as they are",
            f"dropout {config.dropout:g}",
            f"{config.batch_size} examples a step",
            f"seed {config.seed}",
            "a fifth of all sequences, chosen by a hash, is held out and never trained on",
        ]
        run = run_of(config)
        return Note(f"{'; '.join(parts)}{f', made with {run.made_with}' if run else ''}.", "plain")

    @cached_property
    def config(self) -> TrainingConfig:
        """What the controls ask for; where that cannot be, the task as it is."""
        return shown_config(self.asked(self.state))

    @cached_property
    def run(self) -> Run:
        """What there is of the run: before its first step, its first weights."""
        return shown_run(self.config)

    @property
    def shape(self) -> str:
        return f"{formats.count(size_of(self.config))} parameters"

    @property
    def is_known(self) -> bool:
        return run_of(self.config) is not None and not why_not(self.asked(self.state))

    def script_of_run(self, recipe: Callable[..., Any]) -> str:
        """A recipe that trains, as a script; its only argument is the configuration."""
        return script(recipe, config=Code(f"read_name({self.config.name!r})", read_name))


def compared(*, task: str) -> Comparison:
    """All networks of a task with all seeds, trained anew: this takes minutes."""
    for step in compare(task):
        comparison = step.comparison
    return comparison


class ComparisonPanel(TrainingPanel):
    """A panel about what came out of a comparison."""

    canvas = CHART

    rates: ClassVar[str] = ""
    """At which rates networks learn, in a sentence, if that is told."""

    @cached_property
    def comparison(self) -> Comparison:
        """What came out; to be asked for only where the panel is shown."""
        comparison = comparison_of(self.state.task)
        assert comparison, f"expected a comparison of networks that learn {self.state.task}, got none"
        return comparison

    @property
    def is_shown(self) -> bool:
        return comparison_of(self.state.task) is not None

    @property
    def shape(self) -> str:
        return f"{len(self.comparison.seeds)} seeds"

    @classmethod
    def conditions(cls, model: ModelState, state: TrainingState) -> Note:
        """What all networks share, and what the transformers are where their names say nothing else."""
        comparison = cls(model, state).comparison
        base = comparison.base
        heads = formats.plural(base.num_heads, "head")
        return Note(
            f"{formats.count(base.steps)} steps of {base.batch_size} examples, the same for all; "
            f"{formats.plural(len(comparison.seeds), 'seed')}. Where a name says nothing else, transformers have "
            f"{base.positional} positions, {base.norm}-norm, {formats.plural(base.num_layers, 'layer')} and "
            f"{heads}.{gentle_slopes(base)}{cls.rates} Computed with {comparison.made_with}.",
            "plain",
        )

    def recipe(self) -> str:
        return script(compared, task=self.comparison.task)

    @classmethod
    def content(cls, model: ModelState, state: TrainingState) -> Content:
        """What is drawn for a link; of a comparison that is not there, an empty chart."""
        if cls(model, state).is_shown:
            return super().content(model, state)
        return lines.content([], about="Nothing of it is computed yet.")


def gentle_slopes(base: TrainingConfig) -> str:
    """A sentence on each scheme whose slopes hardly tell an order in this network, after a space; "" if none is so."""
    told, heads, last = [], formats.plural(base.num_heads, "head"), base.about.length - 1
    for name, scheme in POSITIONAL.items():
        slopes = scheme(d_model=base.d_model, num_heads=base.num_heads, max_len=base.about.length).slopes()
        if slopes is not None and (bias := slopes.max().item() * last) < GENTLE:
            told.append(
                f" With {heads} {name}’s steepest slope is {formats.number(slopes.max().item())} a token, so scores "
                f"fall by at most {formats.number(bias)} over {base.about.length} tokens: hardly a trace of order."
            )
    return "".join(told)


P = TypeVar("P", bound=TrainingPanel)
T = TypeVar("T")
OfLink = Callable[[ModelState, TrainingState], T]


def answered_from(panel: type[P], otherwise: T) -> Callable[[Callable[[P], T]], OfLink[T]]:
    """Make a function of a panel one of the link, as questions want it.

    Args:
        panel: the class of the panel.
        otherwise: the answer where nothing was trained or computed.
    """

    def of_link(answer: Callable[[P], T]) -> OfLink[T]:
        @wraps(answer)
        def answered(model: ModelState, state: TrainingState) -> T:
            asked = panel(model, state)
            return answer(asked) if asked.is_known else otherwise

        return answered

    return of_link


def task_alone(model: ModelState, state: TrainingState) -> str:
    """What the networks of this lens read."""
    return "Examples of the task are read here, and not the text in the sidebar."


def before_training(task: Task, point: Point | None) -> Mapping[str, bool]:
    """Drawn weights know nothing: their loss is about that of guessing evenly among all that the output can say.

    Args:
        task: what is learned.
        point: the first of the curve; if it is of a later step, nothing follows from it.
    """
    if point is None or point.step:
        return {}
    count = task.outcomes
    among = formats.plural(count, "token id")
    if task.classes or task.spans:
        among = formats.plural(count, "place") if task.spans else formats.plural(count, "class", "classes")
    labels = f", of which {len(task.labels)} are labels," if task.labels and not task.classes else ""
    evenly = (
        f"guessing evenly among the {among}{labels} gives ln {formats.count(count)} = {formats.number(math.log(count))}"
    )
    law = f"before training the loss is {formats.number(point.loss)}, at most {ABOVE} above that of guessing: {evenly}"
    return {law: point.loss <= math.log(count) + ABOVE}


def _optimizer(config: TrainingConfig) -> str:
    betas = f"β {BETA1:g} and {config.beta2:g}"
    return (
        f"AdamW with weight decay {config.weight_decay:g} and {betas}" if config.weight_decay else f"Adam with {betas}"
    )


def _schedule(config: TrainingConfig) -> str:
    warmup = f" after {formats.plural(config.warmup, 'step')} of warm-up" if config.warmup else ""
    if config.schedule == "constant":
        return f"{warmup}, constant"
    return f"{warmup}, falling with 1/√step from step {max(FLAT, config.warmup)} on"
