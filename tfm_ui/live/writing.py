"""What a model reads before it writes, and why some models write nothing. Pure functions."""

from tfm_core.generation.chat import Chat
from tfm_core.language.bpe import START_ID
from tfm_ui.state.model_state import ModelState


def prompt_of(model: ModelState, chat: Chat | None = None) -> tuple[int, ...]:
    """The token ids that are read first, without padding; a text without tokens begins with the start token."""
    tokens = model.source_tokens
    if chat:
        cuts = model.tokens_by
        return tuple(map(cuts.id_of, cuts.split(chat.around(cuts.join(tokens.pieces)))))
    return tokens.ids[: len(tokens.pieces)] or (START_ID,)


def why_not_write(model: ModelState) -> str:
    """Why this model writes nothing, in a sentence; "" if it does."""
    return _why_not(
        model,
        decoder="A text is written by a decoder, token after token.",
        shared=": an id that the model writes stands for no single word.",
    )


def why_not_score(model: ModelState) -> str:
    """Why this model gives the tokens of a text no probabilities, in a sentence; "" if it does."""
    return _why_not(
        model,
        decoder="Each token is rated by a decoder from those before it.",
        shared=", so its probability is no single word’s.",
    )


def _why_not(model: ModelState, *, decoder: str, shared: str) -> str:
    """Why this model cannot tell which token comes next: why a decoder is needed, or what words that share an id do."""
    if model.architecture == "decoder":
        if model.tokens_by.pieces:
            return ""
        return f"By {model.tokenizer}, several words share an id{shared} Choose Lab GPT as weights, or tokens by byte."
    if model.pretrained:
        short = model.pretrained.short
        return f"{decoder} {short} is an encoder, whose tokens see those after them, too. Choose Lab GPT as weights."
    if model.is_encoder_decoder:
        what = "This model is an encoder-decoder, which reads a second text."
    elif model.looks_back_only:
        what = "This model looks back only, as a decoder does, but is set up as the architecture “encoder”."
    else:
        what = "This model is an encoder, whose tokens see those after them, too."
    return f"{decoder} {what} Choose Lab GPT as weights, or the architecture “decoder”."
