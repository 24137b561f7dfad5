"""A hosted server in one walk, as a server takes long to start: watched, pestered, crowded, and robbed of processes."""

import json

from tests.attacks import at_the_door
from tests.attacks.at_the_door import (
    huge_heads_are_not_kept,
    silent_connections_are_closed,
    unknown_widgets_are_not_kept,
    who_opens_tabs_and_asks_for_no_page_keeps_nobody_out,
)
from tests.attacks.processes import (
    ended_at_once,
    memory_stays_within_that_of_a_small_host,
    whichever_process_is_killed_the_server_answers,
)
from tests.attacks.strangers import attacked
from tests.attacks.watched import (
    EACH,
    TYPED,
    figures_are_handed_out_at_their_own_address_alone,
    watchers_come_before_pictures,
    what_is_typed_is_answered,
)
from tests.tfm_ui.store.redis_server import free_port

SMALL_HOST = {"ATTENTION_LAB_PRESET": "hosted", "ATTENTION_LAB_JOB_WORKER": "early", "ATTENTION_LAB_LOGS": "json"}


def the_log_is_json_and_holds_nothing_that_was_typed(written: str) -> None:
    """What was written of those who have typed and of pictures."""
    logged = [json.loads(line) for line in written.splitlines()]
    routes = [line["route"] for line in logged if line["logger"] == "tfm_ui.server.requests_log"]
    assert routes.count("/pictures/{names}") == 2 + 2 * EACH
    assert len({line["request"] for line in logged if "request" in line}) >= 3
    assert TYPED not in written


def test_a_small_host_answers_whatever_strangers_do_and_leaves_nothing_behind(tmp_path):
    place = f"127.0.0.1:{free_port()}"
    log = tmp_path / "log"  # pytest's own capture moves the place where a running server writes while it reads
    with attacked(SMALL_HOST | at_the_door.SETTINGS | {"ATTENTION_LAB_METRICS": place}, log) as server:
        with silent_connections_are_closed(server), who_opens_tabs_and_asks_for_no_page_keeps_nobody_out(server):
            what_is_typed_is_answered(server)
            watchers_come_before_pictures(server)
            figures_are_handed_out_at_their_own_address_alone(server, place)
            the_log_is_json_and_holds_nothing_that_was_typed(log.read_text())
            huge_heads_are_not_kept(server)
        unknown_widgets_are_not_kept(server)
        memory_stays_within_that_of_a_small_host(server)
        whichever_process_is_killed_the_server_answers(server)
        ended_at_once(server)
