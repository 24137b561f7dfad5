"""What lessons measure in the views "sentences" and "masked"."""

from collections.abc import Callable, Mapping

from tfm_ui.lenses.model.masked import Masked, MaskedAccuracy, figures
from tfm_ui.lenses.model.sentences.panels import Sentences, SentencesPooled
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def alike_cosine(model: ModelState, state: ModelLensState) -> float:
    """The cosine between the two sentences that are most alike; 0 where there are not two."""
    panel = Sentences(model, state)
    return float(panel.cosines[panel.most_alike]) if len(panel.texts) > 1 else 0.0


def alike_pair(model: ModelState, state: ModelLensState) -> str:
    """The numbers of the two sentences that are most alike: "1 and 2"; "none" where there are not two."""
    panel = Sentences(model, state)
    if len(panel.texts) < 2:
        return "none"
    first, second = panel.most_alike
    return f"{first + 1} and {second + 1}"


def alike_sentences(model: ModelState, state: ModelLensState) -> int:
    """How many sentences are compared."""
    return len(Sentences(model, state).texts)


def first_and_pooled(model: ModelState, state: ModelLensState) -> float:
    """The cosine between the last hidden state of the first token and the pooled output of the encoder shown."""
    return SentencesPooled(model, state).cosine


def hidden_likeliest(model: ModelState, state: ModelLensState) -> str:
    """The word that the masked-word head puts first at the hidden place, in quotation marks."""
    return Masked(model, state).called[0]


def hidden_share(model: ModelState, state: ModelLensState) -> float:
    """Its probability, from 0 to 1."""
    return float(Masked(model, state).probabilities.max())


def hidden_right(model: ModelState, state: ModelLensState) -> float:
    """The share of held-out masked words that Lab BERT tells right, as its card has it."""
    return float(figures()["masked"]["right"]["Lab BERT"])


def hidden_right_by_counting(model: ModelState, state: ModelLensState) -> float:
    """The same of the best guess by counting neighbours."""
    return max(float(share) for name, share in figures()["masked"]["right"].items() if name != "Lab BERT")


def hidden_clearly(model: ModelState, state: ModelLensState) -> str:
    """Whether Lab BERT is clearly better than that: "clearly better" or "not clearly better"."""
    return "clearly better" if MaskedAccuracy(model, state).clearly else "not clearly better"


def largest_of_pooled(model: ModelState, state: ModelLensState) -> str:
    """The largest number of the pooled output, without its sign."""
    return formats.number(float(SentencesPooled(model, state).pooled.abs().max()))


OF_SENTENCES: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure
    for measure in (
        alike_cosine,
        alike_pair,
        alike_sentences,
        first_and_pooled,
        hidden_clearly,
        hidden_likeliest,
        hidden_right,
        hidden_right_by_counting,
        hidden_share,
        largest_of_pooled,
    )
}
