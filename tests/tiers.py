"""The tiers of the tests, by folder, and what each of them took: printed as soon as the last test of a tier has ended.

A pytest plugin. `--tiers unit,law` runs these tiers alone; each test is marked with its tier, too. What
takes longest begins first. A worker runs whole files, so that the tests of a file share their server.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
SLOWEST = 10  # tests of a tier that are named
UNIT = "unit"  # the tier of all folders that are not named below
# The folders of the other tiers; of folders within each other the inner one counts.
FOLDERS = {
    "tests/laws": "law",
    "tests/record": "record",
    "tests/pages": "page",
    "tests/browser": "browser",
    "tests/hosted": "hosted",
    "tests/attacks": "attacks",
}
TIERS = {
    UNIT: "one function, class or component",
    "law": "what holds of all views, pictures, questions or links",
    "record": "links show what they showed",
    "page": "pages without a browser, by Streamlit's AppTest",
    "browser": "pages in real browsers",
    "hosted": "servers beside each other, behind nginx, and under load",
    "attacks": "what strangers do to a server",
}
LONGEST = ("browser", "hosted", "attacks")  # begin first, so that no worker has to wait for one of them at the end


def tier_of(test: str) -> str:
    """The tier of a test, by the beginning of its id: the path of its file."""
    path = PurePosixPath(test.partition("::")[0])
    return next((FOLDERS[str(folder)] for folder in path.parents if str(folder) in FOLDERS), UNIT)


@dataclass
class Tier:
    """What is known of a tier while it runs; seconds are of work, added up over all workers."""

    left: int = 0
    seconds: Counter[str] = field(default_factory=Counter)  # test -> seconds
    failed: set[str] = field(default_factory=set)

    def told(self, name: str) -> Iterator[str]:
        """A line on the tier, and a line for each of its slowest tests."""
        failures = f", {len(self.failed)} FAILED" if self.failed else ""
        yield f"{name}: {len(self.seconds):,} tests, {self.seconds.total():.1f} seconds of work{failures}"
        for test, seconds in self.seconds.most_common(SLOWEST):
            yield f"  {seconds:6.1f}  {test[:150]}"


class Report:
    """Adds up what the tests of each tier take. With several workers it runs in the process that they report to."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tiers: dict[str, Tier] = defaultdict(Tier)
        self._is_counted = False

    def count(self, tests: list[str]) -> None:
        """All tests that will run; of several workers, which have the same ones, the first tells."""
        if not self._is_counted:
            self._is_counted = True
            for test in tests:
                self._tiers[tier_of(test)].left += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.count(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self.count([item.nodeid for item in session.items])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name, test = tier_of(report.nodeid), report.nodeid
        tier = self._tiers[name]
        tier.seconds[test] += report.duration
        if report.failed:
            tier.failed.add(test)
        if report.when == "teardown":
            tier.left -= 1
            if not tier.left:
                self._say(name, tier)

    def _say(self, name: str, tier: Tier) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.ensure_newline()
            for line in tier.told(name):
                terminal.write_line(line)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        ran = [name for name in TIERS if self._tiers[name].seconds]
        if ran:
            terminalreporter.section("seconds of work by tier")
        for name in ran:
            terminalreporter.write_line(next(self._tiers[name].told(name)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tiers", metavar="NAMES", help=f"only these tiers, separated by commas: {', '.join(TIERS)}")


def wanted(config: pytest.Config) -> set[str]:
    """The tiers that were asked for; by default all."""
    names = set((config.getoption("tiers") or ",".join(TIERS)).split(","))
    if unknown := names - set(TIERS):
        raise pytest.UsageError(f"expected tiers of {', '.join(TIERS)}; got {', '.join(sorted(unknown))}")
    return names


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is of no tier that was asked for, so that it is not even imported."""
    if collection_path.is_dir() or tier_of(within_project(collection_path)) in wanted(config):
        return None
    return True


def within_project(path: Path) -> str:
    """A path as it stands in a test's id."""
    return path.relative_to(ROOT).as_posix()


def pytest_configure(config: pytest.Config) -> None:
    for name, about in TIERS.items():
        config.addinivalue_line("markers", f"{name}: {about}")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(config), "tiers")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test, and put what takes longest first, in the order in which it was shuffled."""
    for item in items:
        item.add_marker(tier_of(within_project(item.path)))
    items.sort(key=lambda item: tier_of(within_project(item.path)) not in LONGEST)
