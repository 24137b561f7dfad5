"""The Model lens: every block of the transformer, with its real tensors flowing through it."""

from tfm_ui.lenses.model.state import VIEWS, ModelLensState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="model",
    title="Model",
    state=ModelLensState,
    leads_on=LeadsOn("generate", "Generate", "it shows how the output of a model becomes a text, token after token."),
    views=views_of(__name__, VIEWS),
    measures=measures_of(__name__),
)
