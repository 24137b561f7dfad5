"""Messages of a page are what the server and visitors without a browser read in them."""

from streamlit.testing.v1 import AppTest

from benchmarks.live.visitor_widgets import control_of
from benchmarks.streamlit_private.app_test import messages, run_with_event
from benchmarks.streamlit_private.protocol import Element
from tfm_ui.streamlit_private.protocol import GENERATED_ELEMENT_ID_PREFIX


def page() -> None:
    """A page with a widget of each kind that the app has, and with a component that says what it hears."""
    import streamlit as st

    st.number_input("Number", 0, 9, 7, key="number", bind="query-params")
    st.slider("Slider", 0, 9, 3, key="slider")
    st.select_slider("Names", ["a", "b"], "b", key="names")
    st.selectbox("List", ["a", "b"], 1, key="list")
    st.toggle("Switch", key="switch")
    st.text_input("Line", "word", key="line")
    st.text_area("Text", "words", key="text")
    part = st.components.v2.component("part", html="<p></p>")
    st.text(part(key="part", on_changed_change=lambda: None).changed)


def opened() -> AppTest:
    app = AppTest.from_function(page).run()
    assert not app.exception
    return app


def test_names_of_widgets_begin_as_the_server_expects():
    names = {message.DESCRIPTOR.name: message.id for message in messages(opened()) if hasattr(message, "id")}
    assert len(names) > 5
    others = {kind: name for kind, name in names.items() if name and not name.startswith(GENERATED_ELEMENT_ID_PREFIX)}
    assert not others, "page_runs.py would close the websocket of each page with these widgets"
    assert names["NumberInput"].endswith("-number"), "rest.py reads the key of a widget at the end of its name"


def test_a_component_hears_of_an_event_under_the_name_that_the_server_lets_through():
    app = opened()
    (component,) = (message.id for message in messages(app) if message.DESCRIPTOR.name == "BidiComponent")
    heard = run_with_event(app, component, "changed", 42).text[0].value
    assert heard == "42", "events of components have another name: page_runs.py refuses them, pictures cannot be picked"


def test_a_visitor_without_a_browser_reads_each_kind_of_widget():
    kinds = {"NumberInput": "number_input", "Slider": "slider", "Selectbox": "selectbox"}
    kinds |= {"Checkbox": "checkbox", "TextInput": "text_input", "TextArea": "text_area"}
    read = {}
    for message in messages(opened()):
        if kind := kinds.get(message.DESCRIPTOR.name):
            control = control_of(Element(**{kind: message}))
            read[message.label] = control and control.state.WhichOneof("value"), control and control.value
    assert read == {
        "Number": ("int_value", "7"),
        "Slider": ("double_array_value", "3"),
        "Names": ("string_array_value", "b"),
        "List": ("string_value", "b"),
        "Switch": ("bool_value", ""),
        "Line": ("string_value", "word"),
        "Text": ("string_value", "words"),
    }, "benchmarks/live/visitor_widgets.py reads them otherwise"
