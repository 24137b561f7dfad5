"""What all pictures of the Training lens have in common."""

from functools import partial

from tfm_ui.live.memory import little
from tfm_ui.pictures.registry import Picture

# They show runs, not the sidebar's model; and trainings that are under way, of which the server's process alone knows.
picture = partial(Picture, uses_model=False, here=True, needs=little)
