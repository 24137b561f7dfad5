"""The view "padding" of the Masks lens without a browser."""

from tests.pages.test_app import picture, start, text_on, widget

PAGE = "masks"
PICTURES = ["masks_padding", "masks_padding_amount", "masks_padding_weights", "masks_empty_row", "masks_nan_spreads"]


def lens(**query: str):
    return start(PAGE, masks_view="padding", **query)


def shown(app, name: str):
    """A picture's numbers, and a chart's figure."""
    header, numbers = picture(app, name)
    return header.get("figure"), numbers


def test_with_causality_padding_on_the_right_is_harmless_and_the_mask_can_be_switched_off():
    app = lens()
    assert "No token looks ahead" in text_on(app)
    widget(app, "_masks_causal").click().run()
    assert not app.exception
    assert not widget(app, "causal").value
    assert "Not hidden, they move 5 of 5 outputs" in text_on(app)
    assert not [button for button in app.button if button.key == "_masks_causal"]


def test_on_the_left_padding_does_harm_even_then():
    app = lens()
    widget(app, "masks_pad_side").set_value("left").run()
    assert not app.exception
    text = text_on(app)
    assert "even hidden, they move outputs" in text
    assert "The mask leaves 5 of 10 rows no key" in text
    assert not [button for button in app.button if button.key == "_masks_causal"]


def test_a_decoder_leads_to_its_cross_attention():
    app = lens(architecture="encoder-decoder")
    widget(app, "_masks_cross").click().run()
    assert not app.exception
    assert widget(app, "masks_place").value == "cross"
    assert "Not hidden, they move 4 of 4 outputs" in text_on(app)


def test_layer_head_and_row_choose_what_is_shown():
    app = lens(causal="false")
    before = [shown(app, name) for name in PICTURES]
    widget(app, "masks_head").set_value(2).run()
    widget(app, "masks_row").set_value(2).run()
    after = [shown(app, name) for name in PICTURES]
    assert [first == second for first, second in zip(before, after, strict=True)] == [True, True, False, True, False]
    assert "row 2 (“dog”) was emptied here" in text_on(app)
