"""Questions of the Training lens, in the order of its views."""

from tfm_ui.lenses.training.classify.questions import QUESTIONS as OF_CLASSIFY
from tfm_ui.lenses.training.compare.questions import QUESTIONS as OF_COMPARE
from tfm_ui.lenses.training.decode.questions import QUESTIONS as OF_DECODE
from tfm_ui.lenses.training.learn.questions import QUESTIONS as OF_LEARN
from tfm_ui.lenses.training.lengths.questions import QUESTIONS as OF_LENGTHS

QUESTIONS = (*OF_LEARN, *OF_DECODE, *OF_CLASSIFY, *OF_COMPARE, *OF_LENGTHS)
