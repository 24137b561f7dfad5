"""The box of a panel, which may get controls before the panel is drawn into it."""

from streamlit.delta_generator import DeltaGenerator


class Box:
    """The bordered box of a panel. It keeps a place for the heading, whose text may depend on controls drawn later."""

    def __init__(self, inside: DeltaGenerator) -> None:
        self.inside, self.heading = inside, inside.empty()

    @classmethod
    def of(cls, key: str, place: DeltaGenerator) -> "Box":
        """A new box in this place."""
        return cls(place.container(border=True, key=f"panel_{key}"))


Boxes = dict[str, Box]
