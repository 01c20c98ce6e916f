"""What holds for every test: its noise is the same every day, and the run ends with what each folder cost.

What is drawn from the operating system comes from a stream named after the test (or the fixture that outlives it), so
that no test fails by chance. A test marked `secure` draws real noise, and its file states its chance of a false alarm.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

import pytest
from hypothesis import settings
from tests.seeded.seeded_stream import drawing

settings.register_profile("any machine", settings.get_profile("default"), deadline=None)  # however loaded
settings.load_profile("ci" if os.environ.get("CI") else "any machine")
pytest_plugins = [
    "tests.spark_sessions",
    "tests.spark_clusters",
    "tests.stores",
    "tests.refusals",
    "tests.budgets",
    "tests.browser",
    "tests.short_fits",
]
collect_ignore = ["seeded"]  # what programs that tests start read, and no tests


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest: none is left to one process when the others are done."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Name the stream that a test draws from."""
    if item.get_closest_marker("secure") is not None:
        return (yield)
    with drawing(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> Iterator[None]:
    """Name the stream of a fixture that outlives a test: it is the same whichever test comes first."""
    if fixturedef.scope == "function":
        return (yield)
    with drawing(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', 0)}"):
        return (yield)


class Phase(Protocol):
    """What pytest reports of the setup, the call or the teardown of one case."""

    nodeid: str
    when: str
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The seconds of all phases of a folder's cases, added up over processes, and the number of cases."""

    folder: str
    seconds: float
    cases: int

    def __str__(self) -> str:
        return f"{self.seconds:8.1f} s {self.cases:6d} cases  {self.folder}"


def folder_of(nodeid: str) -> str:
    """Return the first two folders of a case: `tests/core`, `src/dpress`."""
    return "/".join(PurePosixPath(nodeid.partition("::")[0]).parent.parts[:2])


def costs(phases: Iterable[Phase]) -> list[Cost]:
    """Return what each folder cost, the dearest first; a skipped case and one that failed in its setup count too."""
    seconds: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for one in phases:
        seconds[folder_of(one.nodeid)] += one.duration
        cases[folder_of(one.nodeid)] += one.when == "setup"
    found = [Cost(folder=folder, seconds=seconds[folder], cases=cases[folder]) for folder in seconds]
    return sorted(found, key=lambda cost: (-cost.seconds, cost.folder))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the costs; the reporter of a run on several processes holds the reports of all."""
    reports = [one for group in terminalreporter.stats.values() for one in group if hasattr(one, "duration")]
    if found := costs(reports):
        terminalreporter.section("seconds and cases by folder")
    for cost in found:
        terminalreporter.write_line(str(cost))
