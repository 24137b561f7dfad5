"""Every chart as a file that needs nobody, at every width: no text is cut off, and none lies over another."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.charts import faults
from tests.browser.test_standalone import drawn, opened
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling import measurements
from tfm_ui.pictures.registry import PICTURES

CHARTS = [name for name, picture in PICTURES.items() if picture.canvas.name == "chart"]
LONG = {
    "text": "@alice", "seq_len": "300", "num_heads": "16", "positional": "t5", "architecture": "decoder",
    "positions_a": "t5", "positions_b": "rope", "positions_length": "4096", "positions_max_len": "100",
    "num_layers": "8", "model_depth": "48", "model_top": "20",
    "profiling_sizes": "256,16,8,2048%0A64,4,2,50%0A128,8,4,100",
    "profiling_targets": "with+weights,LSTM,GRU,convolution,nn.TransformerEncoder",
}  # fmt: skip
QUERIES = {"as it opens": "", "long names": "&".join(f"{name}={value}" for name, value in LONG.items())}


@pytest.mark.parametrize("query", QUERIES)
def test_no_text_of_a_chart_is_cut_off_or_lies_over_another(browser: Browser, tmp_path: Path, monkeypatch, query):
    monkeypatch.setattr(measurements, "find", lambda plan, name="": plausible(plan) if plan else None)
    page = browser.new_page(viewport={"width": 390, "height": 900})
    shown = 0
    for name in CHARTS:
        problems = opened(page, tmp_path, name, QUERIES[query])
        for width in (390, 760, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            drawn(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            plot = page.locator(".plot")
            if plot.is_visible():  # of a scheme that has no such picture there is none
                shown += 1
                assert faults(plot) == [], (name, width)
        assert problems == [], name
    assert shown > 40
    page.close()
