"""What is told of a room: to all, to a member of itself, and to the owner. Pure."""

from typing import Any
from urllib.parse import parse_qsl

from tfm_ui.classroom.room import Room
from tfm_ui.classroom.tally import tally
from tfm_ui.page.in_lesson import PARAMETER as STEP


def of_all(room: Room) -> dict[str, Any]:
    """What everybody in the room is told: nobody's answer before answers are shown."""
    members, owner = room.here()
    asked, shown = room.asked, room.shown
    question: dict[str, Any] | None = None
    if asked:
        question = {"id": asked.id, "ask": asked.ask, "kind": asked.kind, "options": list(asked.options)}
        question |= {"unit": asked.unit, "which": asked.which, "about": asked.about, "answered": len(room.answers)}
    result: dict[str, Any] | None = None
    if asked and shown:
        counted = tally(asked, shown.values, shown.measured)
        result = {"id": shown.id, "said": shown.said, "text": shown.text, "words": counted.words, "many": shown.many}
        result |= {"measured": shown.measured, "chart": counted.chart[0] if counted.chart else None}
    here = {"members": members, "owner": owner}
    return {
        "here": here,
        "ends": room.about["ends"],
        "place": room.place,
        "asked": question,
        "result": result,
        "over": room.over,
    }


def of_member(room: Room, member: str) -> dict[str, Any]:
    """What a member is told of itself: its answer, and whether that came too late."""
    asked = room.asked
    return {"mine": room.answer_of(asked, member), "late": room.is_late(asked, member)}


def of_owner(room: Room) -> dict[str, Any]:
    """What the owner alone is told: answers in words, how many came late, and how many have done the step's task."""
    asked = room.asked
    texts = [{"member": who, "text": text} for who, text in room.answers.items()]
    return {
        "texts": texts if asked and asked.kind == "words" else [],
        "lates": room.late,
        "done": room.done(step_of(room)),
    }


def step_of(room: Room) -> str:
    """The link of the lesson's step that the owner shows; "" if there is none."""
    return dict(parse_qsl(room.place["query"])).get(STEP, "") if room.place else ""
