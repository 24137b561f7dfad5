"""Questions of the view "sentences"."""

from tfm_core.language.lab_bert import NAME
from tfm_ui.lenses.model.sentences.panels import Sentences, SentencesPooled, SentencesSpecial
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SENTENCE = "Transformers have revolutionized natural language processing."  # the example of the course's document
ON_LAB_BERT = {"weights": NAME, "text": SENTENCE}


def most_like_first(model: ModelState, state: ModelLensState) -> str:
    """Which sentence is most like sentence 1, and which two are most alike."""
    return Sentences(model, state).sentence()


def partner_of_first(model: ModelState, state: ModelLensState) -> str:
    """The number of the sentence that is most like sentence 1; "none" where there is no other."""
    partners = Sentences(model, state).partners(0)
    return str(partners[0] + 1) if partners else "none"


def pooled_and_first(model: ModelState, state: ModelLensState) -> str:
    """How the pooled output differs from the first token's state."""
    return SentencesPooled(model, state).sentence()


def cosine_of_pooled(model: ModelState, state: ModelLensState) -> float:
    """The cosine between the two."""
    return round(SentencesPooled(model, state).cosine, 2)


def what_is_at_special(model: ModelState, state: ModelLensState) -> str:
    """The share of the weight on the special tokens."""
    return SentencesSpecial(model, state).sentence()


def share_of_last(model: ModelState, state: ModelLensState) -> float:
    """The largest share of the last special token in any layer, in percent."""
    return formats.points(float(SentencesSpecial(model, state).shares[:, -1].max()))


QUESTIONS = (
    Question(
        "Sentences alike",
        "Five sentences, each as the mean of its last hidden states. Which one points most nearly as sentence 1 does?",
        most_like_first,
        Prediction(
            ask="Which sentence is most like sentence 1?",
            measured=partner_of_first,
            options=("2", "3", "4", "5"),
            hides=("model_sentences",),
        ),
        model={"weights": NAME},
        controls={"view": "sentences"},
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
        controls={"view": "sentences"},
        because="one token stands before every text so that a single vector can speak for all of it.",
    ),
    Question(
        "Attention to SEP",
        "[SEP] ends the text and means nothing. How large is its share of the weight in the layer where it is largest?",
        what_is_at_special,
        Prediction(
            ask="Which share, in percent?", measured=share_of_last, unit="%", hides=("model_sentences_special",)
        ),
        model={"weights": NAME, "text": "She was very glad to see him, and said so."},
        controls={"view": "sentences"},
        because="weights of a query sum to 1, so a head with nothing to do must put them somewhere.",
    ),
)
