"""`python -m tests.places`: write anew where each control is, for the search (assets/search/places.json).

It opens every view once, and some with another setting, which takes a minute. Run it when a control has come, has gone
or has moved to another view; tests/pages/test_places.py says when.
"""

import json
import logging

from benchmarks.streamlit_private.app_test import packages_searched_once, pages_without_preparation
from tests.places.measured import all_of_them
from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tfm_ui.jobs import sessions
from tfm_ui.search.places import FILE


def main() -> None:
    """Write the file."""
    logging.disable(logging.WARNING)
    fake = FakeQueue()
    sessions.queue = lambda: fake.open() or fake  # no page starts a worker
    with pages_without_preparation(), packages_searched_once():
        places = all_of_them()
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(place)}" for name, place in places.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
