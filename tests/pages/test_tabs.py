"""Views under one tab: links of before they stood there, by name of a view or of a question, and the choice itself."""

import pytest

from tests.pages.measuring import press
from tests.pages.test_app import start, text_on, widget
from tfm_ui.lenses import lens as lens_of

UNDER = [  # lens, view, question, the view of the tab, and what the view alone shows
    ("positions", "table", "which-kind", "see", "A row per scheme of the library."),
    ("profiling", "parts", "free-in-flops", "compare", "Of one forward pass"),
    ("profiling", "roofline", "under-one-roof", "compare", "To the right: more operations"),
]


def is_open(app, key: str) -> bool:
    return widget(app, key).proto.type == "primary"


@pytest.mark.parametrize(("lens", "view", "question", "tab", "shown"), UNDER)
def test_old_links_open_the_view_under_its_tab(lens, view, question, tab, shown):
    for asked in ({"view": view}, {"question": question}, {"view": view, "question": question}):
        app = start(lens, **{f"{lens}_{name}": value for name, value in asked.items()})
        assert not app.exception
        assert not app.warning  # nothing was wrong with the link
        assert is_open(app, f"_view_{tab}")
        assert is_open(app, f"_view_in_tab_{view}")
        assert not is_open(app, f"_view_in_tab_{tab}")
        assert shown in text_on(app)
        assert app.query_params[f"{lens}_view"] == view


@pytest.mark.parametrize(("lens", "view", "question", "tab", "shown"), UNDER)
def test_the_choice_leads_to_a_view_and_its_questions_and_the_tab_leads_back(lens, view, question, tab, shown):
    app = start(lens)
    assert shown not in text_on(app)
    press(app, f"_view_in_tab_{view}")
    assert app.query_params[f"{lens}_view"] == view
    assert shown in text_on(app)
    these = lens_of(lens).questions
    number = next(at for at, asked in enumerate(these, 1) if asked.controls.get("view") == view)
    assert f'data-number="{number}"' in "".join(html.proto.body for html in app.get("html"))
    press(app, f"_view_{tab}")
    assert f"{lens}_view" not in app.query_params
    assert shown not in text_on(app)
