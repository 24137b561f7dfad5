"""Why a model cannot be run, whatever is shown of it: it has no text, or its weights are not on this server."""

from tfm_core import run_store
from tfm_ui.state import arrays
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import problem_of, run_of


def why_not_run(model: ModelState) -> str:
    """Why this model cannot be run, whatever is shown of it, in a few words; "" if it can."""
    if model.empty_texts:
        return "expected a text, got one that has no tokens"
    return missing_weights(model)


def missing_weights(state: ModelState) -> str:
    """A sentence that the weights are not here; "" if they are, or if they are random."""
    if why := arrays.why_not_there(state.weights):
        return why
    if state.pretrained:
        return state.pretrained.why_not_there
    if not state.trained or run_of(state.weights):
        return ""
    if away := run_store().shelf.unreadable:
        return f"The weights “{state.weights}” cannot be looked up now. {away}"
    if problem := problem_of(state.weights):
        return f"The training of the weights “{state.weights}” ended early. {problem}"
    where = f"The weights “{state.weights}” are not on this server."
    if "file=" in state.weights:
        return f"{where} They were loaded from a file: load it again in the Training lens."
    return f"{where} Train them in the Training lens, or without the app: python -m tfm_core.training {state.weights}"
