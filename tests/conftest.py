"""What all tests share."""

# Before torch, which looks when it is loaded how many threads the app allows (tfm_ui/__init__.py).
from tfm_ui.lenses import lenses

# isort: split
import asyncio
import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from hypothesis import settings

from benchmarks.streamlit_private.app_test import packages_searched_once
from tfm_core.training.folder import Folder
from tfm_core.training.outcomes import outcome_store
from tfm_core.training.store import run_store

_runs = TemporaryDirectory()  # what tests train is theirs alone, here and in the apps that they start
os.environ["ATTENTION_LAB_RUNS"] = _runs.name
run_store().shelf.place = outcome_store().shelf.place = Folder(Path(_runs.name))

pytest_plugins = ["tests.tiers", "tests.crossed", "tests.examples", "tests.served", "tests.pages.rotated"]

# Profiles to choose by --hypothesis-profile; none has a deadline, as machines are shared.
for profile, examples in {"fast": 10, "usual": 20, "all": 100}.items():
    settings.register_profile(profile, deadline=None, max_examples=examples)
settings.load_profile("usual")
lenses()  # fills the registry of pictures


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for garbage only once all tests are known: while they are collected there is none, and looking takes as
    long as collecting them. What exists then stays to the end, so it is never looked at again.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True  # else pytest adds its handlers to each of Streamlit's loggers, three times a test
    return result


@pytest.fixture(autouse=True)
def same_random_numbers_each_time():
    torch.default_generator.manual_seed(0)  # torch.manual_seed formats the whole stack each time


@pytest.fixture(autouse=True)
def no_loop_of_a_browser(request: pytest.FixtureRequest) -> Iterator[None]:
    """Playwright's loop runs in this thread from its first browser on: tests with loops of their own do not see it."""
    loop = None if "browser" in request.fixturenames else asyncio._get_running_loop()
    if loop:
        asyncio._set_running_loop(None)
    yield
    if loop:
        asyncio._set_running_loop(loop)


@pytest.fixture(autouse=True, scope="session")
def packages_are_searched_once() -> Iterator[None]:
    with packages_searched_once():
        yield
