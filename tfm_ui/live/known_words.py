"""The words that are known to stand for token ids, such as those of the visitor's texts and of the sample texts."""

from tfm_core import Tokens, encode
from tfm_ui.live.cache import cached, never
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.samples import SAMPLES, read_text


@cached(heavy=never)
def _samples(tokenizer: str) -> list[Tokens]:
    return [encode(read_text(f"@{name}"), tokenizer) for name in SAMPLES]


def known_texts(model: ModelState) -> list[Tokens]:
    """The texts that the model reads, whole, and the sample texts, cut by its tokenizer.

    Trained weights know the tokens of their task alone, and Lab GPT all of its own, whatever is read.
    """
    if model.pretrained:
        return [model.pretrained.every_token()]
    if model.trained:
        return [encode(" ".join(model.trained.about.vocabulary), model.tokens_by)]
    typed = [model.read_text] + ([model.read_target] if model.is_encoder_decoder else [])
    return [*(encode(text, model.tokenizer) for text in typed), *_samples(model.tokenizer)]
