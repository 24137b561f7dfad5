"""What all pictures of the Training lens have in common."""

from functools import partial

from tfm_ui.live.memory import LITTLE
from tfm_ui.pictures.picture import Picture


def held_out(*_: object) -> int:
    """What networks take that are run on all held-out examples of a task; both have sizes of their own."""
    return 3 * LITTLE


# They show runs, not the sidebar's model; and trainings that are under way, of which the server's process alone knows.
picture = partial(Picture, uses_model=False, here=True, needs=held_out)
