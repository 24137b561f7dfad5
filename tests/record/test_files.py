"""The files of the record: their names, their text, and how they are written anew."""

import json

import pytest

from tests.record import __main__ as command
from tests.record import addresses, files
from tests.record.addresses import Link, slug
from tests.record.content import content_of

HEADS, QUESTION = Link("heads?num_heads=8"), Link("heads?seed=9", "All tokens")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A record of two links, of which nothing is written yet."""
    for module in (addresses, files, command):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    for module in (files, command):
        monkeypatch.setattr(module, "recorded_links", lambda: [HEADS, QUESTION])
    monkeypatch.setattr(command, "content_of", lambda link: {"link": link.address, "x": [0.5]})
    return tmp_path


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("view=arcs&mass=50", "view=arcs,mass=50"),
        ("text=one two", "text=one-two"),
        ("view=roofline#measured", "view=roofline,measured"),
        ("", ""),
    ],
)
def test_a_link_can_be_read_in_its_name(words, name):
    assert slug(words) == name


def test_names_of_what_was_cut_or_replaced_have_a_digest():
    names = [slug(words) for words in ("text=🦊", "text=日本", "a/b", "a:b", "a" * 99, "a" * 98 + "b", "a=" + "b" * 40)]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 75 and name.isascii() and not set(name) & set('/\\:*?"<>| ') for name in names)


def test_files_are_named_by_the_link_or_the_question():
    assert HEADS.file.parts[-2:] == ("heads", "num_heads=8.json")
    assert QUESTION.file.parts[-2:] == ("heads", "question-All-tokens.json")
    assert Link("?").file.parts[-2:] == ("home", "opened.json")


def test_keys_are_sorted_and_what_fits_stands_on_a_line():
    content = {"b": {"y": 1, "x": "“é”"}, "a": ["long" * 30, "long" * 30], "c": []}
    assert files.written(content).splitlines() == [
        "{",
        ' "a": [',
        f'  "{"long" * 30}",',
        f'  "{"long" * 30}"',
        " ],",
        ' "b": {"x": "“é”", "y": 1},',
        ' "c": []',
        "}",
    ]
    assert json.loads(files.written(content)) == content


def test_update_writes_what_differs_and_removes_what_is_of_no_link(folder, capsys):
    assert command.main([]) == 1
    assert "is not recorded yet" in capsys.readouterr().out
    assert not list(folder.rglob("*.json"))

    assert command.main(["--update"]) == 0
    assert "2 of 2 links were written anew" in capsys.readouterr().out
    assert command.main([]) == 0

    HEADS.file.write_text(files.written({"link": HEADS.address, "x": [0.50001]}), encoding="utf-8")
    (folder / "heads/gone.json").touch()
    before = HEADS.file.read_bytes()
    assert command.main(["--update"]) == 0
    assert HEADS.file.read_bytes() == before, "what rounding explains is left as it is"
    assert "heads/gone.json: removed" in capsys.readouterr().out
    assert not (folder / "heads/gone.json").exists()


def test_only_what_was_asked_for_is_visited(folder, capsys):
    command.main(["--update", "num_heads"])
    assert [path.name for path in folder.rglob("*.json")] == ["num_heads=8.json"]
    command.main(["--update", "heads: All"])
    assert QUESTION.file.exists()
    with pytest.raises(SystemExit):
        command.main(["no such link"])
    assert "expected parts of links" in capsys.readouterr().err


def test_each_part_of_a_record_is_compared(folder):
    files.write(HEADS, {"link": "x", "facts": {"a": "1"}})
    assert files.changed(HEADS, {"link": "x", "facts": {"a": "1"}}) == []
    assert files.changed(HEADS, {"link": "x"}) == ["facts: is gone; it was {'a': '1'}"]
    assert files.changed(HEADS, {"link": "x", "facts": {"a": "2"}, "texts": {}}) == [
        "facts / a: was '1', is '2'",
        "texts: is new: {}",
    ]


def test_what_takes_another_time_each_time_is_not_recorded():
    content = content_of(HEADS)
    assert content == content_of(HEADS)
    assert "Computed in" not in files.written(content)
    assert content["parameters"] == {"num_heads": "8"}
    assert content["facts"]["facts_label"] == "Random weights · seed 7 · 2 × 8"
