"""The state of a widget, as Streamlit's script in the browser sends it with each request to run the page. Pure."""

from dataclasses import dataclass

from benchmarks.streamlit_private.protocol import Element, WidgetState

# The only kinds of widgets with a state that the app has; buttons, menus and pictures send something at a click alone.
KINDS = ("checkbox", "number_input", "selectbox", "slider", "text_area", "text_input")


@dataclass(frozen=True)
class Control:
    """A widget that a visitor can give other values.

    Attributes:
        parameter: the link's parameter that holds its value; "" if the link does not hold it.
        state: what the browser sends of it.
        values: what a visitor may choose, as the link writes it, in the order of the control; a range for numbers,
            empty for texts and for controls that are locked.
        is_forced: whether the server sets the value, whatever the visitor has chosen.
    """

    parameter: str
    state: WidgetState
    values: range | tuple[str, ...]
    is_forced: bool

    @property
    def value(self) -> str:
        """Its value, as the link writes it; "" for kinds of values that `at` does not take."""
        kind = str(self.state.WhichOneof("value"))
        if kind in ("double_array_value", "string_array_value"):
            written: list[str | float] = list(getattr(self.state, kind).data)
        else:
            written = [getattr(self.state, kind)] if kind in ("int_value", "double_value", "string_value") else []
        return " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in written)

    def at(self, value: str) -> WidgetState:
        """The state with another value, which is written as in a link.

        Raises:
            ValueError: if the widget has no such value.
        """
        state, kind = WidgetState(id=self.state.id), self.state.WhichOneof("value")
        if kind == "int_value":
            state.int_value = int(value)
        elif kind == "double_value":
            state.double_value = float(value)
        elif kind == "double_array_value":
            state.double_array_value.data.append(float(value))
        elif kind == "string_array_value":
            state.string_array_value.data.append(value)
        elif kind == "string_value":
            state.string_value = value
        else:
            raise ValueError(f"expected a widget of numbers, names or text, got one with {kind}")
        return state


def control_of(element: Element) -> Control | None:
    """The control that an element is; None for other elements."""
    kind = element.WhichOneof("type")
    if kind not in KINDS:
        return None
    widget = getattr(element, kind)
    state, values = WidgetState(id=widget.id), range(0)
    options: tuple[str, ...] = ()
    if kind == "checkbox":
        state.bool_value = widget.value if widget.set_value else widget.default
    elif kind == "selectbox":
        options = _choose(state, element)
    elif kind == "number_input":
        values = _type_number(state, element)
    elif kind == "slider":
        values, options = _slide(state, element)
    else:
        state.string_value = widget.value if widget.set_value else widget.default
    choices: range | tuple[str, ...] = () if widget.disabled else options or values
    return Control(widget.query_param_key, state, choices, bool(widget.set_value))


def _choose(state: WidgetState, element: Element) -> tuple[str, ...]:
    widget = element.selectbox
    chosen = widget.raw_value if widget.set_value else ""
    if not chosen and widget.HasField("default"):
        chosen = widget.options[widget.default]
    state.string_value = chosen
    return ()  # what it offers is written in other words than in a link


def _type_number(state: WidgetState, element: Element) -> range:
    widget = element.number_input
    value = widget.value if widget.set_value else widget.default
    if widget.data_type != widget.DataType.INT:
        state.double_value = value
        return range(0)
    state.int_value = int(value)
    has_both = widget.has_min and widget.has_max
    return range(int(widget.min), int(widget.max) + 1, int(widget.step) or 1) if has_both else range(0)


def _slide(state: WidgetState, element: Element) -> tuple[range, tuple[str, ...]]:
    widget = element.slider
    places = list(widget.value if widget.set_value else widget.default)
    if widget.type == widget.Type.SELECT_SLIDER:
        options = tuple(widget.options)
        chosen = list(widget.raw_value) if widget.set_value and widget.raw_value else [options[int(p)] for p in places]
        state.string_array_value.data.extend(chosen)
        return range(0), options if len(places) == 1 else ()
    state.double_array_value.data.extend(places)
    if widget.data_type != widget.DataType.INT or len(places) > 1:
        return range(0), ()
    return range(int(widget.min), int(widget.max) + 1, int(widget.step) or 1), ()
