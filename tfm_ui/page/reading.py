"""How the model reads a text, in words."""

from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import about_tokens


def how_it_is_read(model: ModelState, name: str) -> str:
    """The origin of a sample, and how the text of this field became tokens."""
    tokens = model.target_tokens if name == "target" else model.source_tokens
    if model.is_lab_gpt:  # what was not read comes first, as there is room for two lines
        sentences = [*lab_gpt.about(tokens), *about_tokens(tokens, from_end=True), model.notes[name]]
    elif model.pretrained:
        from_end = model.pretrained.config.architecture == "decoder"
        sentences = [*lab_gpt.about_cut(tokens), *about_tokens(tokens, from_end=from_end), model.notes[name]]
    else:
        sentences = [model.notes[name], *about_tokens(tokens)]
    return " ".join(filter(None, sentences))
