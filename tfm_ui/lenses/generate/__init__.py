"""The Generate lens: a decoder writes, token after token, and one sees how each token comes about."""

from tfm_ui.lenses.generate.panel import LAB
from tfm_ui.lenses.generate.state import VIEWS, GenerateState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="generate",
    title="Generate",
    state=GenerateState,
    leads_on=LeadsOn("training", "Training", "it shows how random weights become weights that have learned a task."),
    views=views_of(__name__, VIEWS),
    opens_with=LAB,
    measures=measures_of(__name__),
)
