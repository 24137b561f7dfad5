"""Questions of the view "sentences"."""

from tfm_core.language.lab_bert import NAME
from tfm_ui.lenses.model.sentences.panels import Sentences, SentencesPooled, SentencesSpecial
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SENTENCE = "Transformers have revolutionized natural language processing."  # the example of the course's document
ON_LAB_BERT = {"weights": NAME, "text": SENTENCE}


def the_most_alike(model: ModelState, state: ModelLensState) -> str:
    """The two sentences that are most alike."""
    return Sentences(model, state).sentence()


def numbers_of_most_alike(model: ModelState, state: ModelLensState) -> str:
    """The numbers of these two: "1 and 2"; "none" where there are no two."""
    if len(Sentences(model, state).texts) < 2:
        return "none"
    first, second = Sentences(model, state).most_alike
    return f"{first + 1} and {second + 1}"


def pooled_and_first(model: ModelState, state: ModelLensState) -> str:
    """How the pooled output differs from the first token's state."""
    return SentencesPooled(model, state).sentence()


def cosine_of_pooled(model: ModelState, state: ModelLensState) -> float:
    """The cosine between the two."""
    return round(SentencesPooled(model, state).cosine, 2)


def what_is_at_special(model: ModelState, state: ModelLensState) -> str:
    """How much the special tokens take."""
    return SentencesSpecial(model, state).sentence()


def share_of_last(model: ModelState, state: ModelLensState) -> float:
    """The largest share of the last special token in any layer, in percent."""
    return formats.points(float(SentencesSpecial(model, state).shares[:, -1].max()))


QUESTIONS = (
    Question(
        "Sentences alike",
        "Five sentences, each as the mean of its last hidden states. Which two point most nearly the same way?",
        the_most_alike,
        Prediction(
            ask="Which two?",
            measured=numbers_of_most_alike,
            options=tuple(f"{first} and {second}" for first in range(1, 5) for second in range(first + 1, 6)),
            hides=("model_sentences",),
        ),
        model=ON_LAB_BERT,
        controls={"view": "sentences"},
        moves=("text",),
        given=("lines",),
        because="an encoder’s vectors are also used without any logits, to compare texts.",
    ),
    Question(
        "Pooled output",
        "The pooled output is made from the last hidden state of [CLS]. How alike are the two: which cosine?",
        pooled_and_first,
        Prediction(
            ask="Which cosine is between them, −1 to 1?", measured=cosine_of_pooled, hides=("model_sentences_pooled",)
        ),
        model=ON_LAB_BERT,
        controls={"view": "sentences", "token": 1},
        moves=("token",),
        because="one token stands before every text so that a single vector can speak for all of it.",
    ),
    Question(
        "Attention to SEP",
        "[SEP] ends the text and means nothing. In the layer where it takes most, which share of the weight is on it?",
        what_is_at_special,
        Prediction(
            ask="Which share, in percent?", measured=share_of_last, unit="%", hides=("model_sentences_special",)
        ),
        model=ON_LAB_BERT,
        controls={"view": "sentences", "token": 3},
        moves=("token",),
        because="weights of a query sum to 1, so a head with nothing to do must put them somewhere.",
    ),
)
