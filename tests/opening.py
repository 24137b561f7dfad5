"""Opens pages without a browser; the lenses, and queries that no link has, for all tests of pages."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from tfm_ui import lenses

ROOT = Path(__file__).parents[1]
PAGES = tuple(lenses.NAMES)
NO_PASS = ("training", "clinic")  # pages that show no pass of the sidebar's model when they open
BAD_QUERIES = (
    "?", "?=", "?&&&=&", "?text", "?text=&target=&architecture=encoder-decoder", "?seq_len=%00", "?text=%ff%fe",
    "?num_heads=8&num_heads=&num_heads=🦊", "?heads_layer=-1e9&heads_head=9e999", "?text=@", "?text=@nobody",
    "?heads_kind=cross&heads_scale=", "?seed=%F0%9F%A6%8A&d_ff=0x10", "?present=", "?text=" + "%F0%9F%A6%8A" * 900,
)  # fmt: skip


def new_app(**query: str | list[str]) -> AppTest:
    """The app with this link's parameters, not run yet."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app
