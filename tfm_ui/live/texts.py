"""Which texts the queries and the keys of an attention come from. Pure."""

from tfm_core import Tokens
from tfm_ui.state.model_state import ModelState


def texts_of(kind: str) -> tuple[str, str]:
    """The texts that queries and keys of this kind of attention come from; "self" is a single stack's."""
    return "target" if kind in ("decoder", "cross") else "source", "target" if kind == "decoder" else "source"


def tokens_of(model: ModelState, kind: str) -> tuple[Tokens, Tokens]:
    """The tokens of these texts, as the model reads them."""
    queries, keys = (model.target_tokens if text == "target" else model.source_tokens for text in texts_of(kind))
    return queries, keys
