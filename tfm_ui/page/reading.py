"""How the model reads a text, in words."""

from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import about_tokens


def how_it_is_read(model: ModelState, name: str) -> str:
    """The origin of a sample, and how the text of this field became tokens."""
    tokens = model.target_tokens if name == "target" else model.source_tokens
    special = lab_gpt.about(tokens) if model.is_lab_gpt else []
    return " ".join(filter(None, [model.notes[name], *about_tokens(tokens, from_end=model.is_lab_gpt), *special]))
