"""The settings of the server."""

import pytest

from tfm_ui.visitors.settings import Settings, read


def test_without_any_the_defaults():
    assert read({}) == Settings()


def test_each_is_read():
    read_settings = read(
        {
            "ATTENTION_LAB_CACHE_MB": "500",
            "ATTENTION_LAB_LIGHT_AT_ONCE": "8",
            "ATTENTION_LAB_HEAVY_AT_ONCE": "3",
            "ATTENTION_LAB_EMBED": "'self'  https://moodle.school.test",
        }
    )
    assert read_settings == Settings(500_000_000, 8, 3, "'self' https://moodle.school.test")


@pytest.mark.parametrize("value", ["0", "-3", "many", "", "1.5", "٣", "9" * 30])
@pytest.mark.parametrize("name", ["CACHE_MB", "LIGHT_AT_ONCE", "HEAVY_AT_ONCE"])
def test_nonsense_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name}: expected a whole number from 1 on"):
        read({f"ATTENTION_LAB_{name}": value})


@pytest.mark.parametrize("value", ["", " ", "a; script-src *", "a, b", "a\r\nX: y", "ü"])
def test_who_may_embed_cannot_break_out_of_its_header(value):
    with pytest.raises(ValueError, match="ATTENTION_LAB_EMBED: expected addresses separated by spaces"):
        read({"ATTENTION_LAB_EMBED": value})
