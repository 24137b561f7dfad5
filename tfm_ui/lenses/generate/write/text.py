"""The text that is written, and how the token of each step was chosen."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from tfm_core import Draw, Sampling, Transformer, TransformerConfig, draw, generate
from tfm_core.generation.sampling import bar, random_number
from tfm_core.model.tokens import Tokenizer
from tfm_ui.lenses.generate.panel import CoursePanel, replay, tokenizer_itself
from tfm_ui.lenses.generate.panel import write as write_so_many
from tfm_ui.lenses.generate.state import FEW, MOST_STEPS, as_text, is_large
from tfm_ui.lenses.generate.steps import OF_ROW, OF_STEP, ROWS, draw_of
from tfm_ui.live.script import script
from tfm_ui.pictures import figures
from tfm_ui.pictures.canvas import Content, Header
from tfm_ui.pictures.panel import Files
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_labels import named

FILTERS = ("top_k", "top_p", "min_p")


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The probability of each written token, before and after the cuts."""
    text = header["texts"][0]
    steps = len(text["tokens"])
    stride = OF_STEP + ROWS * OF_ROW
    table = np.asarray(numbers, np.float64)[: steps * stride].reshape(steps, stride)
    x = list(range(1, steps + 1))
    names = [figures.plain(token) for token in text["tokens"]]
    return go.Figure(
        [
            go.Bar(name="probability", x=x, y=table[:, 7], text=names, textposition="none"),
            go.Scatter(name="after the cuts", x=x, y=table[:, 8], mode="markers"),
        ],
        {
            "template": figures.TEMPLATE,
            "xaxis": {"title": {"text": "step"}},
            "yaxis": {"title": {"text": "probability of the written token"}, "range": [0, 1]},
        },
    )


def write(
    *,
    config: TransformerConfig,
    tokenizer: Tokenizer,
    prompt: Sequence[int],
    sampling: Sampling,
    steps: int,
    forced: Mapping[int, int],
    context: int,
    when_full: str,
) -> str:
    """The text that is written after the prompt."""
    model = Transformer(config).eval()
    course = generate(model, prompt, sampling, steps=steps, forced=forced, context=context, when_full=when_full)
    tokens = [step.token for step in course]
    text = tokenizer.join([tokenizer.pieces[token] for token in tokens])
    return text


class Write(CoursePanel):
    """A course after the sidebar's text, by sampling or greedily."""

    title = "Token by token"
    how_to_read = (
        "Click a token, or use ◀ and ▶, to see how it was chosen: logits, divided by the temperature, "
        "through the softmax; what the cuts leave; and the random number on the bar of what is left. Click another "
        "token in the list to put it there: both texts are then side by side."
    )
    sources = (draw, bar, random_number, generate)
    canvas = replay("write", figure, button='<button type="button" class="undo" hidden>Take back</button>')

    @cached_property
    def draws(self) -> list[Draw]:
        """How each token was chosen, with the probabilities of all tokens: too much to be kept."""
        return [draw_of(step, self.settings.sampling) for step in self.course.steps]

    @cached_property
    def other(self) -> "Write | None":
        """What would have been written without the last token that was put there."""
        if not self.settings.forced:
            return None
        before = {step + 1: token for step, token in self.settings.forced[:-1]}
        return Write(self.model, replace(self.state, forced=as_text(before)))

    @property
    def new_tokens(self) -> int:
        """Those of the text beside it, too, which is another one from the last token on that was put there."""
        steps, forced = self.settings.steps, self.settings.forced
        return 2 * steps - forced[-1][0] if forced else steps

    @property
    def answer_has_ended(self) -> bool:
        """Whether the last token is the one that ends an answer to a message."""
        chat = self.settings.chat
        return chat is not None and self.pieces[-1:] == [chat.end]

    @property
    def text(self) -> str:
        """What was written, as a text."""
        return self.model.tokens_by.join(self.pieces)

    @property
    def shape(self) -> str:
        return f"vocabulary {self.model.config.vocab_size:,}"

    def sentence(self) -> str:
        """How it was chosen, how often the likeliest was, and the least likely token."""
        steps, shares = formats.plural(len(self.pieces), "step"), self.steps.shares
        rarest = places_of_largest(-shares)
        of_what = "" if self.settings.sampling.greedy else " at this temperature, before the cuts"
        sentences = [
            f"{formats.plural(len(self.pieces), 'token')} written, {in_words(self.settings.sampling)}.",
            f"The likeliest was taken at {int((self.steps.ranks == 0).sum())} of {steps}.",
            f"The least likely, “{named(self.pieces[rarest[0]])}” at step {rarest[0] + 1}{one_of_ties(len(rarest))}, "
            f"had {formats.percent(float(shares[rarest[0]]))}{of_what}.",
            self._put_there(),
            self._when_full(),
            self._in_template(),
        ]
        return " ".join(filter(None, sentences))

    def _put_there(self) -> str:
        other = self.other
        last, token = self.settings.forced[-1] if self.settings.forced else (0, 0)
        if other is None or last >= len(self.course.steps):
            return ""
        if other.course.steps[last].token == token:
            return f"“{named(self.pieces[last])}” was put at step {last + 1}, where it would have been chosen anyway."
        pairs = zip(self.course.steps[last + 1 :], other.course.steps[last + 1 :], strict=False)
        same = sum(a.token == b.token for a, b in pairs)
        return (
            f"“{named(self.pieces[last])}” was put at step {last + 1} in place of “{named(other.pieces[last])}”; "
            f"after it {formats.plural(same, 'token')} of {len(self.course.steps) - last - 1} are the same in both."
        )

    def _in_template(self) -> str:
        """What the model reads around a message."""
        return "The text is a message here, within the template of the model’s training." if self.settings.chat else ""

    def tools(self) -> None:
        """Draw a button that writes on, for a model that takes long for a token."""
        if is_large(self.model.config) and self.settings.steps < MOST_STEPS and not self.answer_has_ended:
            more = min(MOST_STEPS, self.settings.steps + FEW)
            st.button(
                f"Write {more - self.settings.steps} more",
                icon=":material/add:",
                on_click=write_so_many,
                args=(self.model, self.state, more),
                key="_generate_more",
            )

    def _when_full(self) -> str:
        moved = [step for step in self.course.steps if step.begin]
        if moved:
            return (
                f"The context of {self.course.context} tokens was full at step {moved[0].number + 1}: "
                "the model went on with its newer half."
            )
        if len(self.course.steps) < self.settings.steps and self.answer_has_ended:
            return f"“{self.pieces[-1]}” ended the answer."
        if len(self.course.steps) < self.settings.steps:
            return f"It stopped where the context of {self.course.context} tokens was full."
        return ""

    def table(self) -> pd.DataFrame:
        """A row per step."""
        steps, numbers = self.course.steps, self.steps.numbers
        top_k, top_p, min_p = numbers[:, 4:7].astype(int).T
        return pd.DataFrame(
            {
                "token": self.pieces,
                "id": [step.token for step in steps],
                "put there": [step.forced for step in steps],
                "logit": [float(step.logits[step.token]) for step in steps],
                "probability": self.steps.shares,
                "after the cuts": self.steps.finals,
                "rank": self.steps.ranks.astype(int) + 1,
                "left by top-k": top_k,
                "left by top-p": top_p,
                "left by min-p": min_p,
                "random number": numbers[:, 0],
                "context begins": [begin + 1 for begin in self.begins],
            },
            index=pd.RangeIndex(1, len(steps) + 1, name="step"),
        )

    def on_paper(self) -> pd.DataFrame | None:
        """The candidates of the step on screen, if a step is chosen: what its token was drawn from."""
        step = min(self.state.step, len(self.pieces)) - 1
        if step < 0:
            return None
        ids, logits, shares, finals, _ = self.steps.candidates(step).T
        pieces, taken = self.model.tokens_by.pieces, self.course.steps[step].token
        return pd.DataFrame(
            {
                "id": ids.astype(int),
                "logit": logits,
                "probability": [f"{share:.4f}" for share in shares],
                "after the cuts": [f"{share:.4f}" for share in finals],
                "": ["was taken" if number == taken else "" for number in ids],
            },
            index=pd.Index([pieces[int(number)] for number in ids], name=f"token of step {step + 1}"),
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of each draw."""
        was_drawn = ~np.array([step.forced for step in self.course.steps])
        return {
            "at each step, what is left sums to 1": bool((abs(self.steps.totals - 1) < 1e-9).all()),
            "no token that was cut was drawn": bool((self.steps.finals[was_drawn] > 0).all()),
        }

    def picture(self) -> Content:
        """The text, the other one beside it if a token was put there, and how each of their tokens was chosen."""
        both = [self, *([self.other] if self.other else [])]
        pieces, sampling, forced = self.model.tokens_by.pieces, self.settings.sampling, self.settings.forced
        numbers = [each.steps.numbers for each in both]
        ids = {int(number) for part in numbers for number in np.unique(part[:, OF_STEP::OF_ROW])}
        header = {
            "prompt": self.prompt,
            "texts": [
                {
                    "tokens": each.pieces,
                    "ids": [step.token for step in each.course.steps],
                    "forced": [step.forced for step in each.course.steps],
                    "begins": each.begins,
                }
                for each in both
            ],
            "pieces": {number: pieces[number] for number in ids if number >= 0},
            "rows": ROWS,
            "sampling": {name: getattr(sampling, name) for name in ("greedy", "temperature", *FILTERS)},
            "vocab": self.model.config.vocab_size,
            "put": [[step + 1, token] for step, token in forced],
            "parts": forced[-1][0] if forced else -1,
        }
        return header, np.concatenate([part.ravel() for part in numbers]).astype(np.float32)

    def recipe(self) -> str:
        """Plain Python that gives the same text."""
        return script(write, tokenizer=tokenizer_itself(self.model), **self.arguments())

    @property
    def files(self) -> Files:
        """The text with its settings, and all distributions."""
        return {
            "TXT": ("The text, its prompt and its settings", self.text_file, "text/plain"),
            "distributions.csv": (
                "The probabilities of all tokens at each step, after the cuts",
                partial(self.file_of, "final"),
                "text/csv",
            ),
            "logits.csv": ("The logits of all tokens at each step", partial(self.file_of, "logits"), "text/csv"),
        }

    def text_file(self) -> str:
        """Prompt and text, and below them all that brings them back."""
        about = {
            "config": asdict(self.model.config),
            "tokenizer": self.model.tokenizer if self.model.is_random else self.model.weights,
            "prompt_ids": list(self.course.prompt),
            "sampling": asdict(self.settings.sampling),
            "steps": self.settings.steps,
            "when_full": self.settings.full,
            "forced": {step + 1: token for step, token in self.settings.forced},
            "ids": [step.token for step in self.course.steps],
        }
        text = f"{self.model.tokens_by.join(self.prompt)}{self.text}"
        return f"{text}\n\n---\n{json.dumps(about, indent=1, ensure_ascii=False)}\n"

    def file_of(self, which: Literal["final", "logits"]) -> str:
        """A row per step, a column per token of the vocabulary.

        Args:
            which: "final" for the probabilities with which tokens are drawn, or "logits".
        """
        written = io.StringIO()
        table = csv.writer(written)
        columns = [f"{number} {piece}" for number, piece in enumerate(self.model.tokens_by.pieces)]
        table.writerow(["step", "written id", *columns])
        for step, drawn in zip(self.course.steps, self.draws, strict=True):
            values = getattr(drawn, which)
            table.writerow([step.number + 1, step.token, *(f"{value:.6g}" for value in values.tolist())])
        return written.getvalue()


def in_words(sampling: Sampling) -> str:
    """How tokens are chosen."""
    if sampling.greedy:
        return "always the likeliest"
    cuts = [
        f"top-k {sampling.top_k}" if sampling.top_k else "",
        f"top-p {sampling.top_p:g}" if sampling.top_p < 1 else "",
        f"min-p {sampling.min_p:g}" if sampling.min_p else "",
    ]
    named_cuts = formats.listed([cut for cut in cuts if cut]) if any(cuts) else "no cut"
    return f"drawn at temperature {sampling.temperature:g} with {named_cuts}, seed {sampling.seed}"
