"""The catalogue of mistakes: what people get wrong in a transformer, computed, with its symptom and its cure.

Each entry exchanges pieces of a right layer (`pieces.py`); what comes of it at any step is `Steps.value`. To add one,
enter it in the table of its family (`mistakes_positions.py`, `mistakes_masks.py`, `mistakes_attention.py`,
`mistakes_layers.py`): the exercise, the checks, the presets and the tests read the catalogue.
"""

from tfm_core.study.exercise import Exercise
from tfm_core.study.mistake import Mistake
from tfm_core.study.mistakes_attention import ATTENTION
from tfm_core.study.mistakes_layers import LAYERS
from tfm_core.study.mistakes_masks import MASKINGS
from tfm_core.study.mistakes_positions import POSITIONS

MISTAKES: dict[str, Mistake] = {**POSITIONS, **MASKINGS, **ATTENTION, **LAYERS}


def mistakes_of(exercise: Exercise) -> dict[str, Mistake]:
    """The mistakes that can be made in this exercise, by name."""
    return {name: mistake for name, mistake in MISTAKES.items() if mistake.needs(exercise)}
