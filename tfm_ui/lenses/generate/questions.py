"""Questions of the Generate lens, in the order of its views."""

from tfm_ui.lenses.generate.kept.questions import QUESTIONS as OF_KEPT
from tfm_ui.lenses.generate.look.questions import QUESTIONS as OF_LOOK
from tfm_ui.lenses.generate.surprise.questions import QUESTIONS as OF_SURPRISE
from tfm_ui.lenses.generate.write.questions import QUESTIONS as OF_WRITE

QUESTIONS = [*OF_WRITE, *OF_LOOK, *OF_KEPT, *OF_SURPRISE]
