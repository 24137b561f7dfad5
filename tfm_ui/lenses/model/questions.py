"""Questions of the Model lens, in the order of its views.

Each view has its own questions.py; what they take for granted is checked in tests/tfm_ui/lenses/model.
"""

from tfm_ui.lenses.model.block import questions as block
from tfm_ui.lenses.model.depth import questions as depth
from tfm_ui.lenses.model.diagram import questions as diagram
from tfm_ui.lenses.model.distance import questions as distance
from tfm_ui.lenses.model.efficient import questions as efficient
from tfm_ui.lenses.model.feed_forward import questions as feed_forward
from tfm_ui.lenses.model.output import questions as output

VIEWS = (diagram, block, feed_forward, depth, distance, efficient, output)
QUESTIONS = tuple(question for view in VIEWS for question in view.QUESTIONS)
