"""The jobs that compute in full, in the real worker: it has no page's code, whose result the server keeps."""

import subprocess
import sys
from functools import partial

from tests.tfm_ui.jobs.test_job_worker import ends
from tfm_ui.jobs import exact as jobs
from tfm_ui.jobs.exact import LEAKS
from tfm_ui.jobs.job import Request, Tab
from tfm_ui.jobs.queue import Queue
from tfm_ui.lenses.masks.leaks.moved import Leaks
from tfm_ui.lenses.masks.masked_passes import in_full
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.store import exact, shared


def test_the_workers_jobs_need_nothing_that_draws_pages():
    code = (
        "import sys, pkgutil; from tfm_ui.jobs.table import JOBS; list(map(pkgutil.resolve_name, JOBS.values())); "
        "sys.exit('streamlit' in sys.modules or 'pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_the_worker_keeps_is_what_a_page_computes():
    expected = Leaks(ModelState(), MasksState(item=1))
    test = in_full(expected.setting, expected.plan.tries)
    key = exact.key_of(LEAKS, test)
    queue = Queue()
    request = Request(LEAKS, test, seconds=1, limit=60, then=partial(jobs.keep, key, "1.2.3.4"))
    try:
        queue.submit("visitor", request, Tab("tab"))
        ended = ends(queue, LEAKS, test)
    finally:
        queue.close()
    assert (ended.state, ended.problem, ended.step.share) == ("done", "", 1.0)
    assert not ended.step.numbers  # the queue remembers the step
    assert shared.store().entry(exact.EXACT, key).owner == "1.2.3.4"
    kept = exact.read(key)
    assert kept["moved"].sub(expected.influence.moved).abs().max() < expected.influence.tolerance
    shared.store().remove(exact.EXACT, key)
