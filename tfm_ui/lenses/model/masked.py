"""The view "masked": a word is hidden, and the masked-word head says what stands there; what that head is made of."""

import json
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from streamlit.column_config import NumberColumn, TextColumn
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.language.lab_bert import FIGURES, NAME
from tfm_core.language.wordpiece import MASK
from tfm_core.model.transformer import OutputTransform
from tfm_ui.lenses.model.encoders import about_typed, called, mask_id_of, with_head
from tfm_ui.lenses.model.machine import LayerPanel, inputs_of
from tfm_ui.lenses.model.naming import name_of
from tfm_ui.lenses.model.other_attention import other_attention
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.page.lens import View, texts_of
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.pictures import bars, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Note, OpenTable
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NEAR = 1e-3  # how far float32 may be off
COMMAND = f"python -m tfm_core.training {NAME}"
GAP = {"weights": NAME, "text": "The government of the United States is at peace with all the world."}
WRITTEN = {"weights": NAME, "text": f"She was very {MASK} to see him."}


def told(model: Transformer, inputs: Sequence[Tensor], mask: Tensor | None, gap: int) -> tuple[Tensor, Tensor]:
    """The last hidden state at one place of a text, (d_model), and the logits that the head makes of it, (vocab)."""
    with torch.no_grad():
        states = model.states(*inputs, mask=mask)[:, gap : gap + 1]  # logits of all places take long, and one is shown
        logits = model.logits(states)
    return states[0, 0].clone(), logits[0, 0]


def filled(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, gap: int, mask_id: int, top: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The likeliest ids at a place that is hidden, their probabilities there, and those where nothing is hidden."""
    model = Transformer(config).eval()
    hidden = inputs[0].clone()
    hidden[0, gap] = mask_id
    probabilities = told(model, [hidden], mask, gap)[1].double().softmax(-1)
    beside = told(model, inputs, mask, gap)[1].double().softmax(-1)
    ids = probabilities.topk(top).indices
    shares, shares_beside = probabilities[ids], beside[ids]
    return ids, shares, shares_beside


@cached()
def read_at(model: ModelState, config: TransformerConfig, gap: int, mask_id: int) -> tuple[Tensor, Tensor, Tensor]:
    """The last hidden state at a place that is hidden, the logits there, and those where nothing is hidden."""
    inputs, mask = inputs_of(model)
    hidden = inputs[0].clone()
    hidden[0, gap] = mask_id
    state, logits = told(transformer(config), [hidden], mask, gap)
    return state, logits, told(transformer(config), inputs, mask, gap)[1]


@cache
def figures() -> Mapping[str, Any]:
    """What was measured of Lab BERT when it was made."""
    measured: Mapping[str, Any] = json.loads(FIGURES.read_text("utf-8"))
    return measured


def needs(model: ModelState, state: ModelLensState) -> int:
    """Two passes."""
    return 2 * passes.needs(with_head(model))


class MaskedPanel(LayerPanel):
    """A panel on a place whose word is hidden."""

    needs = needs

    def __init__(self, model: ModelState, state: ModelLensState) -> None:
        super().__init__(with_head(model), state)

    @property
    def mask_id(self) -> int:
        """The id of [MASK]."""
        number = mask_id_of(self.model)
        assert number is not None
        return number

    @cached_property
    def gap(self) -> int:
        """The place that is hidden, from 0: a typed [MASK], else the chosen token, but no special one around a text."""
        ids = self.tokens.ids
        chosen = min(self.state.gap, self.read) - 1
        typed = [place for place in range(self.read) if ids[place] == self.mask_id]
        if typed:
            return chosen if chosen in typed else typed[0]
        before, after = (
            (len(each) for each in self.model.pretrained.special_around) if self.model.pretrained else (0, 0)
        )
        return max(min(chosen, self.read - 1 - after), min(before, self.read - 1))

    @property
    def truth(self) -> int | None:
        """The id that stands there; None where [MASK] was typed, so that nobody knows."""
        number = self.tokens.ids[self.gap]
        return None if number == self.mask_id else number

    @property
    def at_gap(self) -> tuple[Tensor, Tensor, Tensor]:
        """The last hidden state at the place while it is hidden, its logits, and those of the text as it stands."""
        return read_at(self.model, self.config, self.gap, self.mask_id)

    @property
    def logits(self) -> Tensor:
        """The logits at the place while it is hidden, (vocab)."""
        return self.at_gap[1]


class Masked(MaskedPanel):
    """The likeliest words at the place that is hidden, beside those where nothing is hidden."""

    canvas = CHART
    sources = (told, Transformer.logits, OutputTransform.forward)

    @cached_property
    def probabilities(self) -> Tensor:
        """What the head says while the word is hidden, float64 (vocab)."""
        return self.logits.double().softmax(-1)

    @cached_property
    def beside(self) -> Tensor:
        """What it says of the same place while the word can be read, float64 (vocab)."""
        return self.at_gap[2].double().softmax(-1)

    @cached_property
    def listed(self) -> list[int]:
        """The ids that are listed."""
        ids: list[int] = self.probabilities.topk(min(self.state.top, len(self.probabilities))).indices.tolist()
        return ids

    @property
    def called(self) -> list[str]:
        """Their names."""
        return [name_of(self.model, number) for number in self.listed]

    @property
    def rank(self) -> int:
        """The rank of the word that stands there, from 1; 0 where nobody knows it."""
        return 0 if self.truth is None else int((self.probabilities > self.probabilities[self.truth]).sum()) + 1

    @property
    def title(self) -> str:
        return f"What stands at place {self.gap + 1}?"

    @property
    def how_to_read(self) -> str:
        return (
            f"Upper bars: the word is hidden, {MASK} is read in its place. Lower bars: the text is read as it is, so "
            "that the head tells what stands there, and need not guess. A masked-word head says what stands here, "
            "never what comes next."
        )

    @property
    def shape(self) -> str:
        return f"{formats.plural(len(self.listed), 'piece')} of {formats.count(len(self.probabilities))}"

    @property
    def shares(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The probabilities of those listed, hidden and not, (2, word)."""
        return torch.stack([self.probabilities[self.listed], self.beside[self.listed]]).float().numpy()

    def sentence(self) -> str:
        """The likeliest word, and the rank of the true one."""
        best = (
            f"the likeliest piece is {self.called[0]}, {formats.percent(float(self.probabilities[self.listed[0]]), 3)}"
        )
        typed = about_typed(self.model)
        if self.truth is None:
            known = f"{MASK} was typed at place {self.gap + 1}, so nobody knows what is right there: {best}."
            return f"{known} {typed}".strip()
        word = self.names[self.gap]
        share, read = (formats.percent(float(each[self.truth]), 3) for each in (self.probabilities, self.beside))
        return (
            f"“{word}” at place {self.gap + 1} is hidden: {best}. “{word}” itself has rank {formats.count(self.rank)} "
            f"of {formats.count(len(self.probabilities))}, {share}. Where it can be read, the head gives it {read}. "
            f"{typed}"
        ).strip()

    def laws(self) -> dict[str, bool]:
        """What must hold of both distributions."""
        off = max(abs(float(each.sum()) - 1) for each in (self.probabilities, self.beside))
        apart = abs(len([number for number in self.listed if self.probabilities[number] > 0]) - len(self.listed))
        return {
            f"the probabilities of all words sum to 1, hidden and not (largest error {formats.tiny(off)})": off < NEAR,
            "every word has a share, however small": apart == 0,
        }

    def table(self) -> pd.DataFrame:
        """A row per word that is listed."""
        hidden, beside = self.shares
        columns = {"id": self.listed, "hidden": hidden, "as it stands": beside}
        return pd.DataFrame(columns, index=pd.Index(self.called, name="word"))

    def picture(self) -> Content:
        """Two bars per word."""
        series = ("hidden", "as it stands")
        return pairs.content(self.called, series, self.shares, roles=("result", "muted"), rows="word")

    @property
    def tensors(self) -> Step:
        return Step("A hidden word", [held("logits", ("vocab",), self.logits, "the logits at the hidden place")])

    def recipe(self) -> str:
        """A script that leaves `ids`, `shares` and `shares_beside`."""
        return self.script(filled, gap=self.gap, mask_id=self.mask_id, top=len(self.listed))


class MaskedHead(MaskedPanel):
    """What the masked-word head is made of."""

    title = "What a masked-word head is made of"
    how_to_read = "From top to bottom, in the order of computing; each place of the text alone."

    @property
    def shape(self) -> str:
        return f"{formats.count(self.parameters)} parameters of its own"

    @cached_property
    def parts(self) -> list[tuple[str, str, int]]:
        """The parts in their order: name, shape, parameters that are the head's own."""
        model = transformer(self.config)
        dense, norm, end = model.transform.projection, model.transform.norm, model.unembedding
        tied = self.config.tie_embeddings
        return [
            ("dense layer: weights", _times(dense.weight), dense.weight.numel()),
            ("dense layer: bias", _times(dense.bias), dense.bias.numel()),
            (self.config.activation.upper(), "each number alone", 0),
            ("norm", _times(next(norm.parameters())), sum(each.numel() for each in norm.parameters())),
            (
                "matrix, tied to the embeddings" if tied else "matrix",
                _times(end.weight),
                0 if tied else end.weight.numel(),
            ),
            ("bias of the logits", _times(end.bias), end.bias.numel()),
        ]

    @property
    def parameters(self) -> int:
        """How many parameters the head has beside the embeddings."""
        return sum(count for _, _, count in self.parts)

    @property
    def open_table(self) -> OpenTable:
        about = "trained for the head alone; 0 where there is nothing to train, or where it is the embeddings’"
        return OpenTable({"shape": TextColumn(), "parameters of its own": NumberColumn(help=about)})

    def sentence(self) -> str:
        """Its size, and what tying saves."""
        size = self.config.vocab_size * self.config.d_model
        tied = f"the matrix of {formats.count(size)} numbers is that of the embeddings, read the other way round"
        return (
            f"Beside the embeddings, the head has {formats.count(self.parameters)} parameters of its own"
            + (f": {tied}." if self.config.tie_embeddings else ", its matrix among them.")
            + " Devlin et al. 2018 train with it, and most who use BERT afterwards leave it out."
        )

    def laws(self) -> dict[str, bool]:
        """Whether these parts, one after the other, give the model's logits."""
        model = transformer(self.config)
        with torch.no_grad():
            ours = model.transform.norm(model.transform.activation(model.transform.projection(self.at_gap[0])))
            ours = ours @ model.unembedding.weight.T + model.unembedding.bias
        off = float((ours - self.logits).abs().max())
        near = off < NEAR * max(1.0, float(self.logits.abs().max()))
        return {f"the parts, one after the other, give the logits above (largest error {formats.tiny(off)})": near}

    def table(self) -> pd.DataFrame:
        """A row per part."""
        names, shapes, counts = zip(*self.parts, strict=True)
        columns = {"shape": shapes, "parameters of its own": counts}
        return pd.DataFrame(columns, index=pd.Index(names, name="part"))

    def recipe(self) -> str:
        return ""


class MaskedAccuracy(MaskedPanel):
    """How many held-out masked words Lab BERT tells right, beside counting."""

    canvas = CHART
    title = "Held-out masked words that are told right"
    how_to_read = (
        "Each bar is a share of the same masked words of documents that were never trained on. The guesses count the "
        "training texts; bigrams are told the neighbours, even where the model reads [MASK] there."
    )

    @property
    def is_shown(self) -> bool:
        return self.model.weights == NAME

    @property
    def right(self) -> dict[str, float]:
        """Name -> the share that is right."""
        measured: dict[str, float] = figures()["masked"]["right"]
        frequent = figures()["masked"]["most frequent"]
        called = {
            "both neighbours": "bigrams: both neighbours",
            "left neighbour": "bigrams: the left neighbour",
            "most frequent": f"always “{frequent}”, the most frequent",
        }
        return {called.get(name, name): share for name, share in measured.items()}

    @property
    def shape(self) -> str:
        return f"{formats.count(figures()['masked']['asked'])} masked words"

    @property
    def clearly(self) -> bool:
        """Whether Lab BERT is further above the best guess than so many words leave to chance, twice over."""
        ours, *guesses = self.right.values()
        return bool(ours - max(guesses) > 2 * (2 * ours * (1 - ours) / figures()["masked"]["asked"]) ** 0.5)

    def sentence(self) -> str:
        """Lab BERT beside the best guess, and next sentences."""
        (ours, *guesses), measured = self.right.items(), figures()
        best, share = max(guesses, key=lambda guess: guess[1])
        beats = "clearly more than" if self.clearly else "not clearly more than"
        near, anywhere = (formats.percent(measured["next"][name]) for name in ("same document", "anywhere"))
        return (
            f"Lab BERT tells {formats.percent(ours[1], 3)} right, {beats} the best guess by counting ({best}: "
            f"{formats.percent(share, 3)}); {formats.percent(measured['masked']['among five'])} are among its first "
            f"five. Its pooled output tells next sentences from others right at {anywhere}, and from those of the same "
            f"document at {near}, where a coin is right at 50%. Measured once, after "
            f"{formats.count(measured['recipe']['steps'])} steps from seed {measured['recipe']['seed']}, about "
            f"{measured['minutes']:.0f} minutes on a part of one core; {COMMAND} makes it anew."
        )

    def laws(self) -> dict[str, bool]:
        """Each is a share."""
        return {"each share is between 0 and 1": all(0 <= share <= 1 for share in self.right.values())}

    def table(self) -> pd.DataFrame:
        """A row per way to guess."""
        return pd.DataFrame({"right": list(self.right.values())}, index=pd.Index(list(self.right), name="who"))

    def picture(self) -> Content:
        return bars.content(list(self.right), list(self.right.values()), rows="who", of_one_whole=False)

    def recipe(self) -> str:
        return ""


def _times(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape))


def _shown_instead(model: ModelState, state: ModelLensState) -> Note | None:
    """A note that Lab BERT is shown, and why."""
    if with_head(model) is model:
        return None
    return Note(
        f"{called(model)} has no masked-word head, so nothing in it says which word was hidden: Lab BERT is shown "
        "on the same text."
    )


def what_is_hidden(model: ModelState, state: ModelLensState) -> str:
    """What the head says of the hidden word."""
    return Masked(model, state).sentence()


def rank_of(model: ModelState, state: ModelLensState) -> int:
    """The rank of the word that is hidden; 0 where nobody knows it."""
    return Masked(model, state).rank


def share_of_likeliest(model: ModelState, state: ModelLensState) -> float:
    """The probability of the likeliest word at the hidden place, in percent."""
    return formats.points(float(Masked(model, state).probabilities.max()))


def what_counting_does(model: ModelState, state: ModelLensState) -> str:
    """The measured accuracy beside counting."""
    if with_head(model).weights != NAME:
        return "Of this model nothing of the kind was measured."
    return MaskedAccuracy(model, state).sentence()


def beats_counting(model: ModelState, state: ModelLensState) -> str:
    """Whether Lab BERT is clearly better than the best guess by counting: "yes" or "no"."""
    return "yes" if MaskedAccuracy(model, state).clearly else "no"


VIEW: View[ModelLensState] = View(
    title="Output",
    tab="output",
    choice="Masked word",
    shows=[Masked, _shown_instead, MaskedHead, MaskedAccuracy],
    controls=["gap", "top"],
    reads=lambda model, state: texts_of(with_head(model), state),
    never_trained=lambda model, state: other_attention(with_head(model), state),
    questions=[
        Question(
            "A hidden word",
            "“States” is hidden; all else is read, before it and after it. Which word does the head put first?",
            what_is_hidden,
            Prediction(ask="Which rank has “States” itself?", measured=rank_of, hides=("model_masked",)),
            model=GAP,
            controls={"view": "masked", "gap": 7},
            because="an encoder sees both sides, so it is trained to fill a gap and not to go on.",
        ),
        Question(
            "A typed gap",
            "[MASK] stands in the text itself, so that nobody knows what is right. What does the head say?",
            what_is_hidden,
            Prediction(
                ask="Which probability, in percent, has the likeliest piece?",
                measured=share_of_likeliest,
                unit="%",
                hides=("model_masked",),
            ),
            model=WRITTEN,
            controls={"view": "masked", "gap": 5},
            moves=("gap",),
            because="the sign in a text is the token itself, so a reader can leave any gap.",
        ),
        Question(
            "Beside counting",
            "Masked words of texts that were held out. Is the head clearly better than to guess from both neighbours, "
            "by counting?",
            what_counting_does,
            Prediction(
                ask="Is it clearly better?",
                measured=beats_counting,
                options=("yes", "no"),
                hides=("model_masked_accuracy",),
            ),
            model=GAP,
            controls={"view": "masked", "gap": 3},
            moves=("gap", "text"),
            because="one good gap shows little, and two neighbours tell a lot already.",
        ),
    ],
)
