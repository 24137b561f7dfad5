"""What panels of this lens share: the text that a link describes, or why there is none; and the buttons of a replay."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any, TypeVar

import plotly.graph_objects as go
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Course, Tokens
from tfm_core.language.lab_gpt import NAME
from tfm_ui.lenses.generate.courses import (
    Settings,
    course_of,
    in_a_tick,
    prompt_of,
    settings_of,
    why_not_write,
)
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.steps import Steps, steps_of
from tfm_ui.live.script import Code, config_of, tokenizer_of
from tfm_ui.live.tensors.step import Named, Step, held
from tfm_ui.page import controls, unbound
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.panel import Block, Note, Panel
from tfm_ui.state.fields import Whole, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text.token_row import Text

PROMPT = "The captain looked at the sea, and"
LAB = {"weights": "lab-gpt", "text": PROMPT}  # of most questions
Figure = Callable[[Header, NDArray[Any]], go.Figure]
TIP = """
  <p class="tip" hidden></p>
  <span class="say" aria-live="polite"></span>"""


def replay(name: str, figure: Figure, *, button: str = "", tip: str = TIP) -> Canvas:
    """The canvas of a text that is played step by step, with what replay.js works on.

    Args:
        name: of its script.
        figure: makes the same picture as a Plotly figure.
        button: the HTML of one more button.
        tip: that of what is told of the place under the pointer.
    """
    html = f"""
<div class="{name} flow" data-picture>
  <div class="texts"></div>
  <div class="scrub">
    <button type="button" class="back" aria-label="Step back">◀</button>
    <button type="button" class="play" aria-label="Play">▶</button>
    <button type="button" class="on" aria-label="Step on">▶|</button>
    <input type="range" min="1" step="1" aria-label="Step">
    <output></output>{button}
  </div>
  <canvas tabindex="0" role="application"></canvas>{tip}
</div>
"""
    return Canvas(f"lenses/generate/{name}", html, figure)


class GeneratePanel(Panel):
    """A panel about tokens that the sidebar's model writes or rates.

    Of a model that does neither, its picture is empty and says why; then it is not on the page, see `unable`.
    """

    state: GenerateState

    @property
    def why_nothing(self) -> str:
        """Why there is nothing to show of this model, in a sentence; "" if there is."""
        return why_not_write(self.model)

    @property
    def why_no_answer(self) -> str:
        """Why no question about it can be answered, in a sentence; "" if they can."""
        return self.why_nothing

    @classmethod
    def content(cls, model: ModelState, state: GenerateState) -> Content:
        """What is drawn for a link, for the registry; its text alternative is the sentence, or why nothing is drawn."""
        panel = cls(model, state)
        header, numbers = panel.picture()
        return {**header, "about": panel.why_nothing or panel.sentence()}, numbers

    def written(self, tokens: Iterable[int]) -> list[str]:
        """Tokens as they are written."""
        pieces = self.model.tokens_by.pieces
        return [pieces[token] for token in tokens]


class CoursePanel(GeneratePanel):
    """A panel about what is written after the sidebar's text."""

    @cached_property
    def settings(self) -> Settings:
        """How the text is written."""
        return settings_of(self.model, self.state)

    @cached_property
    def course(self) -> Course:
        """The text, step by step."""
        return course_of(self.model, self.settings)

    @cached_property
    def steps(self) -> Steps:
        """How each token was chosen, in a few numbers."""
        return steps_of(self.model, self.settings)

    @cached_property
    def lengths(self) -> list[int]:
        """How many tokens there are before each step: all that the context holds."""
        return [len(self.course.prompt) + step.number - step.begin for step in self.course.steps]

    @property
    def tensors(self) -> Step | None:
        """What each token was chosen from."""
        steps, sampling = self.course.steps, self.settings.sampling
        logits = torch.stack([step.logits for step in steps])
        chosen = torch.tensor([step.token for step in steps])
        likeliest = "logits.argmax(-1)" if sampling.greedy and not self.settings.forced else ""
        about = "the softmax of them, divided by the temperature, before cuts"

        def shares() -> Tensor:
            return (logits / sampling.temperature).softmax(-1)

        code, axes = "(logits / temperature).softmax(-1)", ("step", "vocab")
        return Step(
            "What each token was chosen from",
            [
                held("prompt", ("token",), torch.tensor(self.course.prompt), "the ids before the first step"),
                held("logits", axes, logits, "one for each token id, at each step"),
                Named("probabilities", axes, tuple(logits.shape), about, shares, code),
                held("chosen", ("step",), chosen, "the id that was taken", likeliest),
            ],
            {"temperature": sampling.temperature},
        )

    @property
    def new_tokens(self) -> int:
        """How many tokens are written at most, where nothing is known of the text yet."""
        return self.settings.steps

    @property
    def slow(self) -> bool:
        return not in_a_tick(self.model.config, self.new_tokens)

    @property
    def layer(self) -> int:
        """The layer that is looked at, from 0."""
        return min(self.state.layer, self.model.num_layers) - 1

    @property
    def begins(self) -> list[int]:
        """Where the context of each step begins in the text."""
        return [step.begin for step in self.course.steps]

    @property
    def prompt(self) -> list[str]:
        """The tokens of the prompt, as they are written."""
        return self.written(self.course.prompt)

    @property
    def pieces(self) -> list[str]:
        """The tokens that follow it, by step."""
        return self.written(step.token for step in self.course.steps)

    def arguments(self) -> dict[str, Any]:
        """The header of a script that writes the text."""
        return {
            "config": config_of(self.model),
            "prompt": list(prompt_of(self.model, self.settings.chat)),
            "sampling": self.settings.sampling,
            # An answer has ended by itself, and a script that knows no template stops there, too.
            "steps": len(self.course.steps) if self.settings.chat else self.settings.steps,
            "forced": dict(self.settings.forced),
            "context": self.model.most_tokens,
            "when_full": self.settings.full,
        }


def tokenizer_itself(model: ModelState) -> Code:
    """The expression for the tokenizer itself: other recipes name those of the table by their key."""
    expression = tokenizer_of(model)
    return Code(f"TOKENIZERS[{expression}]") if expression == repr(model.tokenizer) else expression


P = TypeVar("P", bound=GeneratePanel)
Answer = Callable[[ModelState, GenerateState], str]


def answer_from(panel: type[P]) -> Callable[[Callable[[P], str]], Answer]:
    """Make the answer of a question of what can be said of a panel; where nothing can, it says why."""

    def answer_of(say: Callable[[P], str]) -> Answer:
        @wraps(say)
        def answer(model: ModelState, state: GenerateState) -> str:
            shown = panel(model, state)
            return shown.why_no_answer or say(shown)

        return answer

    return answer_of


def greedy_note(model: ModelState, state: GenerateState) -> Note | None:
    """What is said where a search with beams was asked for in a view that has none."""
    text = "Beams are shown in Write alone: here the text is written greedily."
    return Note(text, "plain") if state.method == "beam" else None


def prompt_read(model: ModelState, state: GenerateState) -> list[Text]:
    """What is read before the first token is written: of a message, its template, too."""
    ids = prompt_of(model, state.chat_of(model))
    pieces = model.tokens_by.pieces
    return [Text(Tokens(tuple(pieces[number] for number in ids), ids, dropped=0))]


def unable(why_not: Callable[[ModelState], str]) -> Callable[[ModelState, GenerateState], Sequence[Block | None]]:
    """What stands in place of a view: why the model cannot do this, and a button that chooses one that can."""

    def instead(model: ModelState, state: GenerateState) -> Sequence[Block | None]:
        reason = why_not(model)
        return [Note(reason, "warning", ":material/edit:"), _offer] if reason else ()

    return instead


def _offer() -> None:
    st.button(
        "Write with Lab GPT",
        icon=":material/history_edu:",
        on_click=controls.set_parameters,
        args=({"weights": NAME},),
        key="_generate_lab_gpt",
    )


def draw_steps(model: ModelState, state: GenerateState, where: DeltaGenerator) -> None:
    """Draw the box of how many tokens are written: it shows the real number, the link has it if somebody chose it."""
    field, _ = controls_of(GenerateState)["steps"]
    assert isinstance(field, Whole)
    count = state.count(model)
    key = unbound.key_of(f"{PREFIX}steps", count)
    where.number_input(field.label, 1, field.high, count, key=key, on_change=_steps_changed, args=(key, model, state))


def _steps_changed(key: str, model: ModelState, state: GenerateState) -> None:
    if chosen := unbound.moved_to(f"{PREFIX}steps", key):
        write(model, state, chosen)


def write(model: ModelState, state: GenerateState, count: int) -> None:
    """Write so many tokens, only to be called in a callback: the usual number is not named in the link."""
    is_usual = count == replace(state, steps=0).count(model)
    controls.change(PREFIX, steps=0 if is_usual else count)


def draw_knobs(name: str, model: ModelState, state: GenerateState) -> None:
    """Draw these sliders, in a place of their own below the row of controls."""
    with st.container(key=f"{name}_place"):
        Drawing(name, ((model, ""), (state, PREFIX))).draw(name)
