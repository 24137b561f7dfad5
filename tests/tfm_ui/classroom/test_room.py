"""What the owner and the members of a room may do."""

import json
import math
import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfm_ui.classroom import room
from tfm_ui.classroom.asked import MOST_CHARS, Asked, asked_of, poll_of
from tfm_ui.classroom.room import SIGNS, NotOwner, Opened, TooLate, read_code
from tfm_ui.classroom.views import of_all, of_member, of_owner
from tfm_ui.store.rooms import Bounds, NoRoom, RoomFull

CHOICE = asked_of("heads all", "Which head?", ["one", "two"], "", in_words=False)
NUMBER = asked_of("masks leaks", "How many pairs?", [], " pairs", in_words=False)
WORDS = asked_of("lesson a.b", "Why?", [], "", in_words=True)
same_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def mine() -> Opened:
    return room.begin("203.0.113.7")


def member(mine: Opened, browser: str = "Ada") -> str:
    return room.look(mine.code).member(f"203.0.113.7 {browser}")


def test_a_code_has_four_letters_that_look_like_no_others_and_a_secret_of_its_own(mine):
    assert len(mine.code) == 4
    assert set(mine.code) <= set(SIGNS)
    assert not set(SIGNS) & set("AEIOU0Q15SZ2V8G6")
    assert len(mine.secret) >= 32
    assert read_code(f" {mine.code.lower()} ") == mine.code


def test_neither_the_secret_nor_an_address_is_kept(mine, tmp_path):
    room.ask(mine.code, mine.secret, WORDS)
    room.answer(mine.code, member(mine), WORDS.id, "because")
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"because" in held
    assert mine.secret.encode() not in held
    assert b"203.0.113" not in held
    assert b"Ada" not in held


def test_what_a_closed_room_kept_is_erased_from_the_file_too(mine, kept, tmp_path):
    room.ask(mine.code, mine.secret, WORDS)
    room.answer(mine.code, member(mine), WORDS.id, "a word of its own")
    room.end(mine.code, mine.secret)
    assert b"a word of its own" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    with pytest.raises(NoRoom):
        room.look(mine.code)


@pytest.mark.parametrize("typed", ["", "KXT", "KXTML", "A234", "KXT1", "ÄÖÜß", "KXT\n\n\n\nM1"])
def test_what_can_be_no_code_is_no_room(typed):
    with pytest.raises(NoRoom):
        read_code(typed)


def test_a_member_is_the_same_in_another_network_and_another_one_in_another_room(mine):
    other = room.begin("203.0.113.7")
    here = room.look(mine.code)
    assert here.member("203.0.113.7 5f1c") == here.member("198.51.100.2 5f1c") != here.member("203.0.113.7 5f1d")
    assert here.member("x 5f1c") != room.look(other.code).member("x 5f1c")
    assert here.member("203.0.113.7") != here.member("203.0.113.8"), "without cookies the address counts"


@pytest.mark.parametrize(
    "act",
    [
        lambda code, secret: room.move(code, secret, {"page": "heads", "query": "", "number": 1}),
        lambda code, secret: room.ask(code, secret, CHOICE),
        lambda code, secret: room.withdraw(code, secret, CHOICE.id),
        lambda code, secret: room.show(code, secret, CHOICE.id),
        lambda code, secret: room.reveal(code, secret, "member"),
        lambda code, secret: room.end(code, secret),
    ],
)
@pytest.mark.parametrize("forged", ["", "x", "ключ", "another"])
def test_nobody_acts_as_the_owner_without_the_secret(mine, act, forged):
    secret = room.begin("x").secret if forged == "another" else forged
    before = room.look(mine.code).values
    with pytest.raises(NotOwner, match="Only who has opened this room"):
        act(mine.code, secret)
    assert room.look(mine.code).values == before


def test_the_room_is_where_the_owner_was_last(mine):
    for number, query in ((2, "layer=2"), (3, "layer=3"), (1, "layer=1"), (3, "layer=4")):
        room.move(mine.code, mine.secret, {"page": "heads", "query": query, "number": number})
    assert room.look(mine.code).place == {"page": "heads", "query": "layer=3", "number": 3}


@pytest.mark.parametrize(
    "place",
    [{}, {"page": 1, "query": "", "number": 1}, {"page": "x" * 41, "query": "", "number": 1},
     {"page": "heads", "query": "x" * 9000, "number": 1}, {"page": "heads", "query": "", "number": "1"},
     {"page": "heads", "query": "", "number": True}, {"page": "heads", "query": "", "number": math.inf}],
)  # fmt: skip
def test_what_is_no_place_is_refused(mine, place):
    with pytest.raises(ValueError, match="expected"):
        room.move(mine.code, mine.secret, place)


def test_an_answer_counts_once_and_can_be_changed_until_answers_are_shown(mine):
    room.ask(mine.code, mine.secret, CHOICE)
    for browser, answer in (("Ada", "one"), ("Bob", "two"), ("Ada", "two")):
        room.answer(mine.code, member(mine, browser), CHOICE.id, answer)
    assert sorted(room.look(mine.code).answers.values()) == ["two", "two"]
    room.show(mine.code, mine.secret, CHOICE.id, measured="two", said="It is two.")
    for browser in ("Ada", "Cleo"):
        with pytest.raises(TooLate, match="shown already"):
            room.answer(mine.code, member(mine, browser), CHOICE.id, "one")
    shown = room.look(mine.code)
    assert (shown.shown.values, shown.shown.many, shown.late) == (("two", "two"), 2, 1)
    assert of_member(shown, member(mine, "Cleo")) == {"mine": None, "late": True}
    assert of_member(shown, member(mine, "Ada")) == {"mine": "two", "late": False}


def test_the_same_question_asked_again_keeps_its_answers_and_another_has_none(mine):
    room.ask(mine.code, mine.secret, CHOICE)
    room.answer(mine.code, member(mine), CHOICE.id, "one")
    room.ask(mine.code, mine.secret, NUMBER)
    assert room.look(mine.code).answers == {}
    with pytest.raises(TooLate, match="not on screen"):
        room.answer(mine.code, member(mine), CHOICE.id, "two")
    room.ask(mine.code, mine.secret, CHOICE)
    assert [*room.look(mine.code).answers.values()] == ["one"]
    room.withdraw(mine.code, mine.secret, NUMBER.id)  # not what is asked now
    assert room.look(mine.code).asked == CHOICE
    room.withdraw(mine.code, mine.secret, CHOICE.id)
    assert room.look(mine.code).asked is None
    with pytest.raises(TooLate):
        room.show(mine.code, mine.secret, CHOICE.id)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (CHOICE, "three"), (CHOICE, ""), (CHOICE, None), (CHOICE, ["one"]), (CHOICE, 1),
        (NUMBER, "7"), (NUMBER, True), (NUMBER, math.nan), (NUMBER, math.inf), (NUMBER, 1e15), (NUMBER, [7]),
        (NUMBER, 10**400),
        (WORDS, ""), (WORDS, " \n "), (WORDS, "x" * (MOST_CHARS + 1)), (WORDS, 7), (WORDS, "a\0b"),
        (WORDS, "\u202eabc"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused(mine, asked, told):
    room.ask(mine.code, mine.secret, asked)
    with pytest.raises(ValueError, match="expected"):
        room.answer(mine.code, member(mine), asked.id, told)
    assert room.look(mine.code).answers == {}


@same_store
@given(told=st.one_of(st.integers(-(10**14), 10**14), st.floats(-1e14, 1e14)))
def test_any_number_comes_back(told):
    assert NUMBER.read(told) == told


def test_answers_in_words_go_to_the_owner_who_may_show_one(mine):
    room.ask(mine.code, mine.secret, WORDS)
    room.answer(mine.code, member(mine), WORDS.id, "  it   looks <b>back</b> ")
    with pytest.raises(ValueError, match="whose answers are shown"):
        room.reveal(mine.code, mine.secret, member(mine))
    room.show(mine.code, mine.secret, WORDS.id)
    now = room.look(mine.code)
    [text] = of_owner(now)["texts"]
    assert text == {"member": member(mine), "text": "it looks <b>back</b>"}
    told = json.dumps(of_all(now))
    assert "looks" not in told
    with pytest.raises(ValueError, match="an answer of this question"):
        room.reveal(mine.code, mine.secret, "nobody")
    room.reveal(mine.code, mine.secret, text["member"])
    assert of_all(room.look(mine.code))["result"]["text"] == "it looks <b>back</b>"


@pytest.mark.parametrize(("asked", "told"), [(CHOICE, "one"), (NUMBER, 7.25), (WORDS, "because of it")])
def test_nobody_hears_of_an_answer_before_answers_are_shown_but_who_gave_it(mine, asked, told):
    room.ask(mine.code, mine.secret, asked)
    empty = json.dumps(of_all(room.look(mine.code))).replace('"answered": 0', '"answered": 1')
    room.answer(mine.code, member(mine), asked.id, told)
    now = room.look(mine.code)
    assert json.dumps(of_all(now)) == empty
    assert of_member(now, member(mine, "Bob"))["mine"] is None
    assert of_member(now, member(mine))["mine"] == told


@pytest.mark.parametrize("words", ["👩\u200d🏫 teaches", "می\u200cخواهم", "1. of all: attention!", "x²"])
def test_words_of_any_language_are_an_answer(words):
    assert WORDS.read(words) == words


def test_an_answer_that_is_being_written_while_answers_are_shown_is_late(mine, monkeypatch):
    room.ask(mine.code, mine.secret, NUMBER)
    look, asked = room.look, []

    def then_show(code):
        now = look(code)
        if not asked:
            asked.append(code)
            room.show(code, mine.secret, NUMBER.id)
        return now

    monkeypatch.setattr(room, "look", then_show)
    with pytest.raises(TooLate, match="shown already"):
        room.answer(mine.code, "ada", NUMBER.id, 7)
    assert (look(mine.code).shown.many, look(mine.code).late) == (0, 1)


def test_a_text_that_is_revealed_meanwhile_stays(mine, monkeypatch):
    room.ask(mine.code, mine.secret, WORDS)
    room.answer(mine.code, member(mine), WORDS.id, "because")
    room.show(mine.code, mine.secret, WORDS.id)
    owned, done = room.owned, []

    def then_reveal(*who):
        now = owned(*who)
        if not done:
            done.append(who)
            room.reveal(*who, member(mine))
        return now

    monkeypatch.setattr(room, "owned", then_reveal)
    room.show(mine.code, mine.secret, WORDS.id, said="It is so.")
    assert (room.look(mine.code).shown.text, room.look(mine.code).shown.said) == ("because", "It is so.")


def test_what_can_no_longer_be_measured_is_taken_back(mine):
    room.ask(mine.code, mine.secret, NUMBER)
    room.show(mine.code, mine.secret, NUMBER.id, measured=5, said="Five leak.")
    room.show(mine.code, mine.secret, NUMBER.id, measured=None, said="That cannot be told.")
    assert room.look(mine.code).shown.measured is None


def test_answers_stand_in_an_order_that_tells_nobody_who_gave_them(mine):
    room.ask(mine.code, mine.secret, NUMBER)
    for number in (30, 2, 11):
        room.answer(mine.code, member(mine, str(number)), NUMBER.id, number)
    for _ in range(3):
        room.show(mine.code, mine.secret, NUMBER.id)
        assert room.look(mine.code).shown.values == (2, 11, 30)


def test_a_poll_whose_answers_are_not_shown_yet_is_not_pushed_away(mine):
    room.poll(mine.code, mine.secret, poll_of("Ready?", ["yes", "no"]))
    for asked in (CHOICE, replace(CHOICE, about="Look.")):
        room.show_again(mine.code, mine.secret, asked, said="The second.")
        assert room.look(mine.code).asked.ask == "Ready?"
    room.show(mine.code, mine.secret, room.look(mine.code).asked.id)
    room.show_again(mine.code, mine.secret, CHOICE, said="The second.")
    assert room.look(mine.code).shown.said == "The second."


def test_what_was_shown_comes_back_with_the_answers_that_it_had(mine):
    room.ask(mine.code, mine.secret, NUMBER)
    room.answer(mine.code, member(mine), NUMBER.id, 7)
    assert room.look(mine.code).over == []
    room.show(mine.code, mine.secret, NUMBER.id, measured=5, said="Five leak.")
    before = room.look(mine.code).shown
    room.show(mine.code, mine.secret, NUMBER.id, measured=6, said="Six leak.")  # the page shows something else now
    assert room.look(mine.code).shown == replace(before, measured=6, said="Six leak.")
    room.withdraw(mine.code, mine.secret, NUMBER.id)
    assert room.look(mine.code).over == [NUMBER.which], "its answer is no secret any more"
    room.show_again(mine.code, mine.secret, NUMBER, measured=5, said="Five leak.")
    again = room.look(mine.code)
    assert (again.asked, again.shown, again.over) == (NUMBER, before, [NUMBER.which])
    with pytest.raises(TooLate):
        room.answer(mine.code, member(mine, "Bob"), NUMBER.id, 8)


def test_of_what_nobody_was_asked_the_answer_alone_is_told(mine):
    told = replace(CHOICE, about="Look at both heads.")
    room.show_again(mine.code, mine.secret, told, measured="two", said="The second.")
    now = room.look(mine.code)
    assert (now.asked.kind, now.asked.ask, now.asked.id) == ("nothing", "Look at both heads.", told.id)
    assert (now.shown.said, now.shown.measured, now.shown.many) == ("The second.", None, 0)
    with pytest.raises(ValueError, match="nothing is asked"):
        now.asked.read("two")
    room.withdraw(mine.code, mine.secret, told.id)
    assert room.look(mine.code).asked is None


def test_a_poll_that_is_being_asked_keeps_its_answers_however_often_it_is_asked(mine):
    def asked(choices=("yes", "no")):
        return room.poll(mine.code, mine.secret, poll_of("Ready?", choices))

    assert asked()
    room.answer(mine.code, member(mine), room.look(mine.code).asked.id, "yes")
    assert not asked()
    assert len(room.look(mine.code).answers) == 1
    assert asked(("yes", "no", "nearly"))
    room.show(mine.code, mine.secret, room.look(mine.code).asked.id)
    assert asked(("yes", "no", "nearly")), "after its answers were shown it can be asked anew"
    assert room.look(mine.code).answers == {}


def test_a_number_that_is_none_is_not_shown_as_computed(mine):
    room.ask(mine.code, mine.secret, NUMBER)
    room.show(mine.code, mine.secret, NUMBER.id, measured=math.nan, said="It cannot be told.")
    room.show(mine.code, mine.secret, NUMBER.id)  # from the desk, which computes nothing
    shown = room.look(mine.code).shown
    assert (shown.measured, shown.said) == (None, "It cannot be told.")


def test_a_question_has_room_for_twice_the_members(mine, monkeypatch):
    monkeypatch.setattr(room, "SETTINGS", replace(room.SETTINGS, room_members=2))
    room.ask(mine.code, mine.secret, CHOICE)
    for browser in "abcd":
        room.answer(mine.code, member(mine, browser), CHOICE.id, "one")
    with pytest.raises(RoomFull, match="more answers than this server allows"):
        room.answer(mine.code, member(mine, "e"), CHOICE.id, "one")
    room.answer(mine.code, member(mine, "a"), CHOICE.id, "two")  # a change is no other answer


def test_who_was_late_may_answer_when_it_is_asked_again(mine):
    room.ask(mine.code, mine.secret, CHOICE)
    room.show(mine.code, mine.secret, CHOICE.id)
    with pytest.raises(TooLate):
        room.answer(mine.code, member(mine), CHOICE.id, "one")
    assert room.look(mine.code).late == 1
    room.ask(mine.code, mine.secret, CHOICE)
    room.answer(mine.code, member(mine), CHOICE.id, "one")
    assert of_member(room.look(mine.code), member(mine)) == {"mine": "one", "late": False}


def test_a_poll_has_two_to_five_choices():
    poll = poll_of("  Ready? ", ["yes", " ", "no"])
    assert (poll.ask, poll.options, poll.which) == ("Ready?", ("yes", "no"), "")
    assert poll.id != poll_of("Ready?", ["yes", "no"]).id
    for ask, choices, words in (
        ("", ["a", "b"], "a question of 1 to 200"),
        ("x" * 201, ["a", "b"], "got 201"),
        ("x", ["a"], "expected 2 to 5 choices, got 1"),
        ("x", list("abcdef"), "got 6"),
        ("x", ["a", "a "], "choices that differ"),
        ("x", ["a", "b" * 61], "at most 60 characters, got 61"),
    ):
        with pytest.raises(ValueError, match=words):
            poll_of(ask, choices)


def test_who_answers_while_answers_are_shown_is_counted_or_late(mine):
    """Answers from many threads, and the owner who shows in between: each counts, or was told that it is late."""
    room.ask(mine.code, mine.secret, NUMBER)
    counted, late, go = [], [], threading.Event()

    def answer(number):
        go.wait()
        try:
            room.answer(mine.code, member(mine, str(number)), NUMBER.id, number)
            counted.append(float(number))
        except TooLate:
            late.append(number)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    go.set()
    while not counted:
        pass
    room.show(mine.code, mine.secret, NUMBER.id)
    for thread in threads:
        thread.join()
    shown = room.look(mine.code)
    assert sorted(shown.shown.values) == sorted(counted)
    assert shown.late == len(late)
    assert len(counted) + len(late) == 24


def test_a_full_room_forgets_what_is_no_longer_asked_and_then_refuses(mine, monkeypatch):
    monkeypatch.setattr(room, "bounds", lambda: Bounds(9, 9, 8, 100_000))
    room.ask(mine.code, mine.secret, CHOICE)
    for number in range(6):  # 8 values without the owner's secret and the question
        room.answer(mine.code, member(mine, str(number)), CHOICE.id, "one")
    with pytest.raises(RoomFull, match="holds as many answers"):
        room.answer(mine.code, member(mine, "another"), CHOICE.id, "one")
    full = len(room.look(mine.code).answers)
    assert full == 6
    room.show(mine.code, mine.secret, CHOICE.id)
    room.move(mine.code, mine.secret, {"page": "heads", "query": "", "number": 1})
    assert room.look(mine.code).shown.many == full
    with pytest.raises(TooLate):
        room.answer(mine.code, member(mine), CHOICE.id, "two")
    room.ask(mine.code, mine.secret, NUMBER)
    room.answer(mine.code, member(mine), NUMBER.id, 1)
    assert not [name for name in room.look(mine.code).values if CHOICE.id in name]


def test_done_tasks_are_counted_for_each_step(mine):
    for browser, step in (("Ada", "a.b"), ("Ada", "a.b"), ("Bob", "a.b"), ("Ada", "a.c")):
        room.note_done(mine.code, member(mine, browser), step)
    room.move(mine.code, mine.secret, {"page": "heads", "query": "layer=1&lesson=a.b", "number": 1})
    assert of_owner(room.look(mine.code))["done"] == 2
    assert "done" not in of_all(room.look(mine.code))


def test_who_is_here_is_counted_over_all_servers_that_have_said_so_lately(mine, monkeypatch):
    room.note_here(mine.code, "first", 3, owner=False)
    room.note_here(mine.code, "second", 2, owner=True)
    room.note_here(mine.code, "first", 4, owner=False)
    assert room.look(mine.code).here() == (6, True)
    later = room.time.time() + room.HERE_LASTS + 1
    monkeypatch.setattr(room.time, "time", lambda: later)
    assert room.look(mine.code).here() == (0, False)


def test_a_question_is_the_same_whenever_it_is_asked():
    assert asked_of("heads all", "Which head?", ("one", "two"), "", in_words=False) == CHOICE
    assert len({CHOICE.id, NUMBER.id, WORDS.id}) == 3
    assert [each.kind for each in (CHOICE, NUMBER, WORDS)] == ["choice", "number", "words"]
    assert isinstance(CHOICE, Asked)
