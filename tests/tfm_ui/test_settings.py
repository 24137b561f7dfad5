"""The settings of the server."""

import dataclasses

import pytest

from tfm_ui.settings import ENTRIES, PREFIX, Settings, read, written


def test_without_any_variable_the_defaults_of_a_local_computer_count():
    assert read({}) == Settings()
    assert all(getattr(read({}), name) == entry.local for name, entry in ENTRIES.items())


def test_a_hosted_server_has_its_defaults_and_a_variable_goes_before_them():
    hosted = read({"ATTENTION_LAB_PRESET": "hosted"})
    assert {name: getattr(hosted, name) for name in ENTRIES} == {name: entry.hosted for name, entry in ENTRIES.items()}
    assert hosted.cache_bytes < Settings().cache_bytes
    chosen = read({"ATTENTION_LAB_PRESET": "hosted", "ATTENTION_LAB_CACHE_MB": "123"})
    assert chosen == dataclasses.replace(hosted, cache_bytes=123_000_000)


@pytest.mark.parametrize("preset", ["local", "hosted"])
@pytest.mark.parametrize("what", ["waiting", "tabs", "jobs", "job_time"])
def test_nobody_can_take_all_that_there_is(preset, what):
    """Neither a visitor nor an address, whose program may invent visitors: something is left for the others."""
    settings = read({"ATTENTION_LAB_PRESET": preset})
    visitor, address = (getattr(settings, f"{what}_per_{whose}") for whose in ("visitor", "address"))
    assert visitor < address <= getattr(settings, what) * 0.81


@pytest.mark.parametrize("name", ENTRIES)
def test_what_a_setting_writes_it_reads(name):
    entry = ENTRIES[name]
    for value in (entry.local, entry.hosted):
        assert entry.read(entry.kind.write(value)) == value


@pytest.mark.parametrize(
    ("variable", "raw", "name", "value"),
    [
        ("CACHE_MB", "500", "cache_bytes", 500_000_000),
        ("UPLOADS_MIB", "5", "upload_bytes", 5 * 2**20),
        ("JOB_MINUTES", "2", "job_time", 120),
        ("WORKERS", "0", "workers", 0),
        ("REST", "0", "rest_seconds", 0.0),
        ("REST", ".25", "rest_seconds", 0.25),
        ("MAX_TOKENS", "64", "max_tokens", 64),
        *(
            ("STORE", address, "store", address)
            for address in ("redis://host", "redis://host:6379/0", "rediss://u:p@[::1]:6380/15?protocol=3")
        ),
        ("DEPLOYMENT", "school-2", "deployment", "school-2"),
        ("LOGS", "json", "logs", "json"),
        ("EMBED", "'self'  https://moodle.school.test", "embed", "'self' https://moodle.school.test"),
    ],
)
def test_a_variable_is_read_in_its_unit(variable, raw, name, value):
    assert read({f"ATTENTION_LAB_{variable}": raw}) == dataclasses.replace(Settings(), **{name: value})


@pytest.mark.parametrize(
    ("variable", "expected", "values"),
    [
        ("PRESET", "one of local, hosted", ["", "cloud", "Hosted"]),
        ("HEAVY_AT_ONCE", "a whole number from 1 on", ["0", "-3", "many", "", "1.5", "٣", "9" * 30]),
        ("CACHE_MB", "a whole number from 1 on", ["0", "-3", "many", "", "1.5", "٣", "9" * 30]),
        ("WORKERS", "a whole number from 0 on", ["-1", ""]),
        ("MAX_TOKENS", "a whole number from 16 to 1024", ["15", "1025"]),
        ("REST", "seconds, from 0 on, such as 2.5", ["", ".", "-1", "nan", "inf", "1e3", "1.2.3"]),
        ("LOGS", "one of text, json", ["xml"]),
        ("DEPLOYMENT", "at most 40 letters, digits, - and _", ["a:b", "a b", "é", "a\n", "x" * 41]),
        ("EMBED", "addresses separated by spaces", ["", " ", "a; script-src *", "a, b", "a\r\nX: y", "ü"]),
    ],
)
def test_a_value_that_cannot_be_is_told_with_what_was_expected(variable, expected, values):
    for value in values:
        with pytest.raises(ValueError, match=variable) as problem:
            read({f"ATTENTION_LAB_{variable}": value})
        assert str(problem.value) == f"ATTENTION_LAB_{variable}: expected {expected}, got {value!r}"


NO_ADDRESS = "redis:// redis://host:port redis://host:99999 redis://host/of redis://[::1 unix://host http://host"


def test_an_address_that_is_none_ends_the_start_and_one_with_a_password_is_shown_nowhere():
    for address in (*NO_ADDRESS.split(), "http://user:word@host"):
        with pytest.raises(ValueError, match="ATTENTION_LAB_STORE: expected nothing, or an address") as problem:
            read({"ATTENTION_LAB_STORE": address})
        assert "word" not in str(problem.value)
    settings = read({"ATTENTION_LAB_STORE": "redis://user:word@host"})
    assert written(settings)["ATTENTION_LAB_STORE"] == "(set)"
    assert "word" not in repr(settings)


def test_variables_are_told_apart_and_begin_alike():
    variables = [entry.variable for entry in ENTRIES.values()]
    assert len(set(variables)) == len(variables)
    assert all(variable.startswith(PREFIX) for variable in variables)


def test_a_setting_is_named_where_it_is_lower_than_usual():
    assert Settings().lowered_by("max_tokens") == ""
    assert Settings(max_tokens=64).lowered_by("max_tokens") == " (this server's setting ATTENTION_LAB_MAX_TOKENS)"
