"""The box of d_ff shows what the model has."""

from tests.pages.test_app import start, widget


def test_d_ff_shows_its_number_and_follows_d_model_until_another_is_chosen():
    app = start(d_model="64")
    assert (widget(app, "d_ff").value, "d_ff" in app.query_params) == (256, False)
    widget(app, "d_model").set_value(32).run()
    assert (widget(app, "d_ff").value, "d_ff" in app.query_params) == (128, False)
    widget(app, "d_ff").set_value(40).run()
    widget(app, "d_model").set_value(64).run()
    assert (widget(app, "d_ff").value, app.query_params["d_ff"]) == (40, "40")
    widget(app, "d_ff").set_value(256).run()
    assert (widget(app, "d_ff").value, "d_ff" in app.query_params) == (256, False)
