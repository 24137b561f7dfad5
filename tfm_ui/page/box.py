"""The box of a panel, for what stands in it before the panel is drawn."""

from streamlit.delta_generator import DeltaGenerator


class Box:
    """The bordered box of a panel: its heading on top, though what that says may depend on the controls below it."""

    def __init__(self, inside: DeltaGenerator) -> None:
        self.inside, self.heading = inside, inside.empty()

    @classmethod
    def of(cls, key: str, place: DeltaGenerator) -> "Box":
        """A new box in this place."""
        return cls(place.container(border=True, key=f"panel_{key}"))


Boxes = dict[str, Box]
