"""The states of widgets are those that a browser has sent for the same page."""

import pytest

from benchmarks.live.visitor_widgets import control_of
from benchmarks.streamlit_private.protocol import Element

NUMBER, SLIDER = Element().number_input, Element().slider  # for their kinds


def number_input(**more):
    given = {"id": "$$ID-5-seed", "query_param_key": "seed", "data_type": NUMBER.DataType.INT, "default": 7}
    limits = {"has_min": True, "has_max": True, "min": 0, "max": 9, "step": 1}
    return control_of(Element(number_input=given | limits | more))


def select_slider(**more):
    given = {"id": "$$ID-1-num_heads", "query_param_key": "num_heads", "options": ["1", "2", "4"], "default": [1]}
    return control_of(Element(slider=given | {"type": SLIDER.Type.SELECT_SLIDER} | more))


def test_a_box_of_whole_numbers_sends_a_whole_number():
    control = number_input()
    assert (control.parameter, control.state.int_value, control.value) == ("seed", 7, "7")
    assert list(control.values) == list(range(10))
    assert control.at("3").int_value == 3


def test_a_slider_of_names_sends_a_name_and_one_of_numbers_a_number():
    assert list(select_slider().state.string_array_value.data) == ["2"]
    assert list(select_slider().at("4").string_array_value.data) == ["4"]
    given = {"id": "$$ID-2-num_layers", "default": [2], "min": 1, "max": 8, "step": 1, "type": SLIDER.Type.SLIDER}
    control = control_of(Element(slider=given | {"data_type": SLIDER.DataType.INT}))
    assert list(control.state.double_array_value.data) == [2.0]
    assert (control.value, list(control.values)) == ("2", [*range(1, 9)])


def test_a_switch_a_list_and_a_text_send_what_they_hold():
    assert control_of(Element(checkbox={"id": "$$ID-3-causal", "default": True})).state.bool_value is True
    chosen = control_of(Element(selectbox={"id": "$$ID-4-norm", "options": ["pre", "post"], "default": 1}))
    assert chosen.state.string_value == "post"
    assert control_of(Element(text_area={"id": "$$ID-6-text", "default": "the cat"})).value == "the cat"


def test_what_the_server_sets_goes_before_the_default():
    assert number_input(set_value=True, value=5).value == "5"
    assert number_input(set_value=True, value=5).is_forced
    assert select_slider(set_value=True, value=[2], raw_value=["4"]).value == "4"


def test_a_locked_control_offers_nothing_but_is_sent():
    control = number_input(disabled=True)
    assert (list(control.values), control.state.int_value) == ([], 7)


def test_an_element_without_a_state_is_no_control():
    assert control_of(Element(html={"body": "text"})) is None


def test_a_switch_takes_no_other_value_by_name():
    with pytest.raises(ValueError, match="expected a widget of numbers, names or text, got one with bool_value"):
        control_of(Element(checkbox={"id": "a", "default": True})).at("false")
