"""The view "decode": an encoder-decoder writes one token after the other, and one sees where each comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import POSITIONAL, TrainingConfig, Transformer, TransformerConfig
from tfm_core.training.decoding import Decoded, decode_greedily
from tfm_core.training.networks import network
from tfm_core.training.scores import pattern_score
from tfm_core.training.tasks.order import START
from tfm_core.training.tasks.task import Examples
from tfm_ui.lenses.training import row_controls
from tfm_ui.lenses.training.panels import RunPanel, held_out_needs
from tfm_ui.lenses.training.runs import shown_run
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import Code, config_code, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.pictures import bars, knobs, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.learn.left_out import probes_of
from tfm_ui.pictures.learn.told import tokens_of
from tfm_ui.pictures.map_scale import SHARES
from tfm_ui.pictures.maps import ABSENT, MAPS, Axis, Map
from tfm_ui.pictures.panel import Columns, Note, Source
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

FEWEST = 2
LIKELIEST = 8  # tokens


def longest(config: TrainingConfig) -> int:
    """How many tokens the source may have: a table of positions ends with the trained length."""
    return config.about.length * (1 if POSITIONAL[config.positional].ends_at_max_len() else 2)


def source_of(config: TrainingConfig, typed: str) -> tuple[tuple[int, ...], str]:
    """The source's ids, and why the typed text is not read, in a sentence; "" if it is."""
    example = tuple(probes_of(config.task).source[0].tolist())
    words = typed.split()
    if not words:
        return example, ""
    known = [piece for piece in config.about.vocabulary if piece != START]
    if strange := next((word for word in words if word not in known), None):
        wanted = f"{known[0]} to {known[-1]}"
        return example, f"“{strange[:20]}” is not among the tokens {wanted}; an example that was held out is read."
    most = longest(config)
    if not FEWEST <= len(words) <= most:
        count = formats.plural(len(words), "token")
        return example, f"{count}, but {FEWEST} to {most} can be read; an example that was held out is read."
    return tuple(1 + config.about.vocabulary.index(word) for word in words), ""


def start_of(config: TrainingConfig) -> int:
    """The id of the token that the decoder reads first."""
    return 1 + config.about.vocabulary.index(START)


def decoding(*, config: TransformerConfig, source: Tensor, start: int) -> Decoded:
    """What the model writes: as many tokens as the source has."""
    model = Transformer(config).eval()
    decoded = decode_greedily(model, source, start=start, steps=source.shape[1])
    return decoded


@cached(heavy=never)
def _decoded(config: TrainingConfig, source: tuple[int, ...], done: int) -> Decoded:
    """What the weights after `done` steps write; `done` is only here to tell results apart."""
    run = shown_run(config)
    model = network(config)
    model.load_state_dict(dict(run.weights), strict=False)
    assert isinstance(model, Transformer)
    return decode_greedily(model.eval(), torch.tensor([source]), start=start_of(config), steps=len(source))


class Decode(RunPanel):
    """A source, and what the decoder has written up to a step: each head's weights on the source."""

    task_field = "pair"
    how_to_read = (
        "A row for each token that the decoder writes, a column for each source token. Drag “Tokens written” to walk "
        "through the steps. A cell without a number has a weight under 0.005."
    )
    sources: Sequence[Source] = (decode_greedily, pattern_score, Transformer)
    canvas = MAPS

    @cached_property
    def _source(self) -> tuple[tuple[int, ...], str]:
        return source_of(self.config, self.state.source)

    @property
    def source(self) -> tuple[int, ...]:
        """The ids of the source."""
        return self._source[0]

    @property
    def problem(self) -> str:
        """Why the typed source is not read; "" if it is."""
        return self._source[1]

    @property
    def step(self) -> int:
        """How many tokens are written; the next one is being decided."""
        return min(self.state.written, len(self.source))

    @property
    def row(self) -> int:
        """The step whose decision is on screen: the last one when all is written."""
        return min(self.step, len(self.source) - 1)

    @property
    def key(self) -> str:
        # The link stays the same when a run ends: by another key the browser asks for the picture again.
        return f"{self.name}_{self.run.done}"

    @property
    def title(self) -> str:
        return f"{self.config.about.title}: where each token comes from"

    @property
    def shape(self) -> str:
        return formats.plural(len(self.source), "step")

    @cached_property
    def decoded(self) -> Decoded:
        """What was written at all steps."""
        return _decoded(self.config, self.source, self.run.done)

    @property
    def tensors(self) -> Step:
        decoded = self.decoded
        cross = torch.stack([*decoded.cross.values()])
        about = "where each step looked in the source: cross-attention of all heads"
        note = (
            "The weights of cross-attention and the probabilities are saved as the model made them, without what they "
            "came from: the .py makes of them what was written, and nothing else."
        )
        return Step(
            self.title,
            [
                held("source", ("source",), torch.tensor(self.source), "the ids that are read"),
                held("read", ("step",), decoded.read, "the id that the decoder had read last"),
                held("weights", ("layer", "head", "step", "source"), cross, about),
                held("probabilities", ("step", "vocab"), decoded.probabilities, "of the next token"),
                held("written", ("step",), decoded.written, "the likeliest id", "probabilities.argmax(-1)"),
            ],
            note=note,
        )

    def names(self, ids: Tensor | tuple[int, ...]) -> list[str]:
        """Tokens in words."""
        return tokens_of(self.config, ids)

    @cached_property
    def answers(self) -> Tensor:
        """The right answers, int64 (step)."""
        solve = self.config.about.solve
        assert solve
        answers: Tensor = solve(torch.tensor([self.source]))[0]
        return answers

    @property
    def right(self) -> int:
        """How many tokens are right when all is written."""
        return int((self.decoded.written == self.answers).sum())

    @property
    def cells(self) -> NDArray[np.bool_]:
        """Where the right tokens stand, (step, source)."""
        examples = Examples(torch.tensor([self.source]), self.answers[None])
        cells: NDArray[np.bool_] = self.config.about.patterns[0].cells(examples)[0].numpy()
        return cells

    @property
    def heads(self) -> dict[str, NDArray[np.float32]]:
        """Name -> its cross-attention, (step, source)."""
        return {
            f"layer {layer + 1}, head {head + 1}": weights[head].numpy()
            for layer, weights in enumerate(self.decoded.cross.values())
            for head in range(len(weights))
        }

    @property
    def likeliest(self) -> tuple[list[str], list[float]]:
        """The likeliest tokens of the step on screen, and their probabilities."""
        top = self.decoded.probabilities[self.row].topk(min(LIKELIEST, self.config.about.vocab_size))
        return self.names(top.indices), top.values.tolist()

    @property
    def best(self) -> tuple[str, int]:
        """The head whose largest weight lies most often where the right token stands, and how often."""
        cells = self.cells
        hits = {
            name: sum(bool(cells[row, weights[row].argmax()]) for row in range(len(cells)))
            for name, weights in self.heads.items()
        }
        name = max(hits, key=lambda head: hits[head])
        return name, hits[name]

    def sentence(self) -> str:
        """What is written, what comes next, and how much of the whole is right."""
        so_far = " ".join(self.names(self.decoded.written)[: self.step]) or "nothing yet"
        names, probabilities = self.likeliest
        count, (head, hits) = len(self.source), self.best
        what = "The last token was" if self.step >= count else "The next token is"
        return (
            f"Source: {' '.join(self.names(self.source))}. Written: {so_far}. {what} “{names[0]}”, with probability "
            f"{formats.weight(probabilities[0])}. When all is written, {self.right} of {count} tokens are right, and "
            f"{head} looks most at the right source token in {hits} of {count} steps."
        )

    def table(self) -> pd.DataFrame:
        """A row per step."""
        decoded = self.decoded
        rows = {
            "written": self.names(decoded.written),
            "right": self.names(self.answers),
            "probability": decoded.probabilities.amax(-1).tolist(),
        }
        looks = {
            f"{name} looks most at": self.names(torch.tensor(self.source)[weights.argmax(-1)])
            for name, weights in self.heads.items()
        }
        return pd.DataFrame({**rows, **looks}, index=pd.RangeIndex(1, len(self.source) + 1, name="step"))

    def laws(self) -> Mapping[str, bool]:
        every = [*self.heads.values(), self.decoded.probabilities.numpy()]
        return {
            "rows of weights sum to 1, and so do probabilities": all(
                bool((np.abs(rows.sum(-1) - 1) < 1e-5).all()) for rows in every
            )
        }

    def recipe(self) -> str:
        """The same decoding, without the app; none of weights that nobody else has."""
        if not self.run.is_complete:
            return ""
        config = replace(self.config.transformer, weights=self.config.name)
        source = Code(f"torch.tensor([{list(self.source)}])")
        return script(decoding, config=config_code(config), source=source, start=start_of(self.config))

    def picture(self) -> Content:
        """Each head's weights on the source, a row for each token that is written."""
        later = np.arange(len(self.source)) > self.row
        tokens = [
            "·" if is_later else token for token, is_later in zip(self.names(self.decoded.written), later, strict=True)
        ]
        return maps.content(
            [
                Map(
                    name=name,
                    values=np.where(later[:, None], ABSENT, weights).astype(np.float32),
                    scale=SHARES,
                    unit="weight",
                )
                for name, weights in self.heads.items()
            ],
            rows=Axis(tokens, "token that is written", "step", "query"),
            columns=Axis(self.names(self.source), "source token that is looked at", "source token", "key"),
            absent="not written yet",
        )


class DecodeNext(Decode):
    """The distribution of the next token."""

    title = "The next token"
    shape = ""
    how_to_read = "The probabilities of the likeliest tokens; all together have 100 %."
    sources = (decode_greedily,)
    canvas = CHART

    def sentence(self) -> str:
        """What it would write, and how sure it is."""
        names, probabilities = self.likeliest
        right = self.names(self.answers)[self.row]
        verdict = "which is right" if names[0] == right else f"but “{right}” would be right"
        read = self.names(self.decoded.read)[self.row]
        return (
            f"Step {self.row + 1}: the decoder has read “{read}” last, and writes “{names[0]}” with probability "
            f"{formats.weight(probabilities[0])}, {verdict}."
        )

    def table(self) -> pd.DataFrame:
        """A row per token of the vocabulary, the likeliest first."""
        probabilities = self.decoded.probabilities[self.row]
        order = probabilities.argsort(descending=True)
        return pd.DataFrame(
            {"probability": probabilities[order].tolist()}, index=pd.Index(self.names(order), name="token")
        )

    def picture(self) -> Content:
        """The likeliest tokens of the step on screen."""
        names, probabilities = self.likeliest
        return bars.content(names, probabilities, rows="token")


def knob(model: ModelState, state: TrainingState) -> Content:
    """The slider of how many tokens are written."""
    written = Decode(model, state)
    steps = len(written.source)
    return knobs.content([Knob("Tokens written", f"{PREFIX}written", written.step, 0, steps, stops=range(steps + 1))])


def _other_length(model: ModelState, state: TrainingState) -> Note | None:
    """Whether the source is longer or shorter than all that was trained on."""
    written = Decode(model, state)
    trained, now = written.config.about.length, len(written.source)
    return Note(f"Trained on sources of {trained} tokens; this one has {now}.", "plain") if now != trained else None


def _untrained(model: ModelState, state: TrainingState) -> Note | None:
    """Whether the weights may still change."""
    is_complete = Decode(model, state).run.is_complete
    return None if is_complete else Note("These weights are not trained to their end: press Train.", "info")


def _controls(model: ModelState) -> TrainingState:
    """The task, how much is written, the source, the settings, and the button that trains."""
    line = controls_line.row("line_training")
    controls_line.draw(TrainingState, PREFIX, model, line, "pair", "seed")
    knobs = line.container(key="training_knobs_place")  # filled when all controls are known that its picture follows
    inside = controls_line.more(line, "Source")
    controls_line.draw(TrainingState, PREFIX, model, inside, "source")
    inside.caption("Tokens separated by spaces; empty: an example that was held out.")
    warned = line.container(width="content", key="training_source_warned")  # filled when the settings are known
    state = row_controls.settings(model, line)
    with knobs:
        Drawing("training_decode_knobs", ((model, ""), (state, PREFIX))).draw("training_decode_knobs")
    if not Decode.refusal(model, state) and (problem := Decode(model, state).problem):
        # Where it was typed; the row tells of a link's as well.
        inside.warning(escape_markdown(problem), icon=":material/edit:")
        warned.html(f'<p class="facts" title="{escape(problem)}">⚠ not read</p>')
    row_controls.button(Decode.asked(state), line)
    return state


def _reads_instead(model: ModelState, state: TrainingState) -> str:
    return "Your own source or an example of the task is read here, and not the text in the sidebar."


def _score(written: Decode) -> str:
    head, hits = written.best
    count = len(written.source)
    trained = "" if written.run.is_complete else " These weights are not trained to their end."
    return (
        f"{written.right} of {count} tokens are right. {head.capitalize()} looks most at the right source token in "
        f"{hits} of {count} steps.{trained}"
    )


def where_it_looks(model: ModelState, state: TrainingState) -> str:
    """How often the best head looks at the right token, and what shape that makes."""
    written = Decode(model, state)
    _, hits = written.best
    shape = ""
    if hits == len(written.source):
        is_mirror = written.names(written.answers)[::-1] == written.names(written.source)
        shape = (
            " The cells run from the top right to the bottom left: an anti-diagonal."
            if is_mirror
            else " The cells are a permutation of the source: the order that sorts it."
        )
    return _score(written) + shape


def how_sure(model: ModelState, state: TrainingState) -> str:
    """The least certain step."""
    written = Decode(model, state)
    certain = written.decoded.probabilities.amax(-1)
    step = int(certain.argmin())
    token = written.names(written.decoded.written)[step]
    share = formats.percent(float(certain[step]), 3)
    return f"Step {step + 1} is the least sure: “{token}” has a probability of {share}. {_score(written)}"


def rights(model: ModelState, state: TrainingState) -> float:
    """How many tokens are right."""
    return float(Decode(model, state).right)


# What they say is checked by tests/tfm_ui/lenses/training/test_decode.py.
QUESTIONS = (
    Question(
        "Reverse, written",
        "Drag “Tokens written” from 0 on: where in the source does the decoder look for its first token, and where for "
        "the second?",
        where_it_looks,
        controls={"view": "decode", "written": 0},
        moves=("written",),
        given=("pair", "source"),
        because="the answers so far were given at once, and a decoder writes them one by one.",
    ),
    Question(
        "Sort, written",
        "Now the numbers are written in order. Which shape do the largest weights have, and is every row right?",
        where_it_looks,
        Prediction(
            ask="How many of the ten tokens will be right?",
            measured=rights,
            hides=("training_decode*.words", "training_decode_next*"),
        ),
        controls={"view": "decode", "pair": "sort-decoder"},
        given=("source",),
        because="reversing depends on places alone, and sorting depends on the numbers.",
    ),
    Question(
        "The same number twice",
        "The source has 7 three times. At which step is the decoder least sure of what comes next?",
        how_sure,
        controls={"view": "decode", "pair": "sort-decoder", "source": "7 3 7 31 0 7 12 5 28 19", "written": 4},
        moves=("written",),
        because="equal numbers are the hard case of sorting, as the decoder has to count them.",
    ),
)

VIEW = View(
    title="Decode",
    exercise="generate",
    shows=[
        Columns([[Decode], [DecodeNext]], widths=(7, 3)),
        Decode.refusal,
        _other_length,
        _untrained,
        Decode.patterns,
    ],
    beside={"training_decode_knobs": Picture(KNOBS, knob, uses_model=False, shows_jobs=True, needs=held_out_needs)},
    reads_instead=_reads_instead,
    controls=_controls,
    uses_model=False,
    badge=Decode.badge,
    questions=QUESTIONS,
)
