"""The view "compare" of the Profiling lens without a browser: unmeasured, measured, and every kind of broken row."""

from dataclasses import replace

import numpy as np
import pytest

from tests.pages.test_app import picture, start, text_on, widget, with_menus
from tests.tfm_ui.lenses.profiling.reports import plan, report
from tests.tfm_ui.pictures.charts import ends, prints_nan
from tfm_core.profiling import Measured
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.state import SIZES

PAGE = "profiling"
PICTURES = ("profiling_times", "profiling_ratios", "profiling_parameters")
TIMES = [0.002, 0.01, 0.045, 0.02, 0.047]


def lens(**query: str):
    return start(PAGE, **{f"profiling_{name}": value for name, value in query.items()})


def pictures(app) -> None:
    for name in PICTURES:
        header, _ = picture(app, name)
        assert header["about"]
        assert not prints_nan(header)


def captions(app) -> str:
    return " ".join(caption.value for caption in app.caption).replace("\\", "")


def test_before_a_measurement_there_is_what_follows_from_the_configuration():
    app = lens()
    assert "5 rows: 100,096 to 4,739,072 parameters" in text_on(app)
    assert "Press Measure" in text_on(app)
    assert "random, drawn from seed 7" in text_on(app)
    assert "floating point operations" in picture(app, "profiling_parameters")[0]["about"]
    assert len(app.dataframe[0].value) == 5
    assert text_on(app).count('class="phead"') == 3


def test_a_measurement_of_the_plan_is_shown_and_its_name_brings_it_back():
    for name, factor in (("first", 1), ("second", 2)):
        measurements.keep(report(plan(), [factor * x for x in TIMES], name=name))
    app = lens()
    pictures(app)
    assert app.dataframe[0].value["forward ms"].to_numpy() == pytest.approx(2000 * np.array(TIMES))
    app = lens(run="first")
    assert app.dataframe[0].value["forward ms"].to_numpy() == pytest.approx(1000 * np.array(TIMES))
    assert "measurement first" in picture(app, "profiling_times")[0]["foot"]
    assert ends(picture(app, "profiling_times")[0])[:4] == ["2.00 ms", "6.00 ms", "10.0 ms", "30.0 ms"]


def test_the_baseline_is_a_choice_of_the_link():
    assert widget(lens(baseline="3"), "profiling_baseline").value == 3  # before there are ratios too
    measurements.keep(report(plan(), TIMES))
    app = lens(baseline="3")
    assert "Forward beside row 3 · with weights" in text_on(app)
    widget(app, "profiling_baseline").set_value(40).run()
    assert not app.exception
    assert "Forward beside row 5 · with weights" in text_on(app)  # the last there is


@pytest.mark.rotated(
    each=1, seconds=[[], [None] * 5, [0.01], [None, 0.01, None], [1e-8, 1, 1, 1, 900]], backward=[True, False]
)
def test_every_kind_of_broken_row_is_shown(seconds, backward):
    asked = plan(backward=backward)
    stopped = report(asked, seconds, complete=False)
    failed = Measured(asked.rows[-1], problem="not enough memory for <b>this</b>")
    measurements.keep(replace(stopped, measured=(*stopped.measured[:4], failed)))
    app = lens(backward=str(backward).lower())
    pictures(app)
    assert "nan" not in text_on(app).lower()
    assert app.dataframe[0].value["problem"].iloc[-1] == failed.problem


def test_one_row_and_forty():
    for sizes, count in (("8, 2, 1, 4", 1), ("8, 2, 1, 4\n" * 40, 40), ("256, 16, 8, 2048", 1)):
        measurements.keep(report(plan(sizes=sizes), [0.01] * count))
        app = lens(sizes=sizes)
        pictures(app)
        assert len(app.dataframe[0].value) == count


def test_nonsense_is_named_kept_and_skipped():
    text = "64, 4, 2, 50\n<b>nonsense</b>\n64, 5, 2, 50"
    app = lens(sizes=text)
    assert widget(app, "profiling_sizes").value == text
    assert "Line 2, “<b>nonsense</b>”: expected 4 whole numbers" in captions(app)
    assert "Line 3, “64, 5, 2, 50”" in captions(app)
    assert len(app.dataframe[0].value) == 1
    widget(app, "profiling_sizes").set_value("nothing").run()
    assert not app.exception
    assert "No line describes a configuration" in captions(app)
    assert any("There is no configuration to show" in info.value for info in app.info)


def test_the_sidebars_model_is_added_with_its_own_d_ff():
    app = start(PAGE, d_model="64", num_heads="8", num_layers="3", seq_len="12", d_ff="40")
    widget(app, "_profiling_add").click().run()
    assert not app.exception
    assert app.session_state["profiling_sizes"] == f"{SIZES}\n64, 8, 3, 12, 40"
    assert len(app.dataframe[0].value) == 6


def test_targets_are_pressed_and_released_and_the_last_one_stays():
    app = lens(sizes="8, 2, 1, 4")

    def press(name: str) -> list[str]:
        (button,) = [b for b in app.button if b.key.startswith("_target_") and b.label == name]
        button.click().run()
        assert not app.exception
        return app.dataframe[0].value["target"].tolist()

    assert press("with weights") == ["with weights"]
    assert press("LSTM") == ["with weights", "LSTM"]
    assert press("with weights") == ["LSTM"]
    assert "fused efficient" not in [b.label for b in app.button]  # it cannot run here


def test_what_is_counted_follows_the_sidebar_and_the_choice():
    app = lens(sizes="64, 4, 2, 50", targets="with weights,nn.TransformerEncoder")
    assert "decoder-only, pre-norm, gelu, sinusoidal positions; without embedding and output." in text_on(app)
    assert app.dataframe[0].value["parameters"].tolist() == [100_096] * 2
    app = lens(sizes="64, 4, 2, 50", targets="with weights,nn.TransformerEncoder", embedding="true", vocabulary="1000")
    assert "one matrix for 1,000 token ids." in text_on(app)
    assert app.dataframe[0].value["parameters"].tolist() == [100_096 + 64_000] * 2
    widget(app, "positional").set_value("rope").run()
    assert not app.exception
    assert app.dataframe[0].value["target"].tolist() == ["with weights"]
    assert "“nn.TransformerEncoder” is left out: nn.TransformerEncoder has no place for rope" in captions(app)
    disabled = {b.label for b in app.button if b.key.startswith("_target_") and b.disabled}
    assert disabled == {"nn.MultiheadAttention", "nn.MultiheadAttention weights"}


def test_every_menu_opens():
    measurements.keep(report(plan(), TIMES))
    app = with_menus((*PICTURES, "profiling_table"), PAGE)
    assert len(app.dataframe) == 1 + len(PICTURES)
    assert len(app.code) > 4
    assert "json_profiling_table" in str(app.get("download_button"))


def test_a_link_names_the_menu_of_configurations_as_its_page_does():
    """The name follows from the lines, and a link's lines are known when their box has been drawn."""
    app = lens(sizes="cat")
    assert "Configurations, 1 line left out" in text_on(app)
    widget(app, "profiling_sizes").set_value(SIZES).run()
    assert "left out" not in text_on(app)
