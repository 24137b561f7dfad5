"""Until a process is prepared nobody looks for garbage in it, and from then on somebody does."""

import gc
import runpy

from tfm_ui.server import no_garbage, start


def test_garbage_is_collected_once_a_process_is_prepared(monkeypatch):
    for step in ("connect", "_run_first"):
        monkeypatch.setattr(start, step, lambda: None)
    was_enabled = gc.isenabled()
    try:
        runpy.run_path(str(no_garbage.__file__))
        assert not gc.isenabled()
        start.preload()
        assert gc.isenabled()
    finally:
        if was_enabled:
            gc.enable()
        else:
            gc.disable()
