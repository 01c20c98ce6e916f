"""What the end of a run says of its folders (`tests/conftest.py`) is what its cases took."""

from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

PHASES = [
    ("tests/core/test_a.py::test_x[1]", "setup", 1.0),
    ("tests/core/test_a.py::test_x[1]", "call", 2.0),
    ("tests/core/test_a.py::test_x[1]", "teardown", 0.5),
    ("tests/core/test_a.py::test_x[a/b::c]", "setup", 0.25),  # skipped: it has no call
    ("tests/core/test_a.py::test_x[a/b::c]", "teardown", 0.0),
    ("tests/mechanisms/oracle/test_b.py::Some::test_y", "setup", 0.0),
    ("tests/mechanisms/oracle/test_b.py::Some::test_y", "call", 5.0),
    ("tests/mechanisms/linear/test_c.py::test_z", "setup", 0.0),
    ("tests/test_d.py::test_w", "setup", 0.125),
    ("src/dpress/core/basics/bits.py::dpress.core.basics.bits.width", "setup", 0.125),
]


@pytest.fixture
def hook(request: pytest.FixtureRequest) -> ModuleType:
    found = request.config.pluginmanager.get_plugin(str(Path(__file__).parents[1] / "conftest.py"))
    assert isinstance(found, ModuleType)
    return found


def test_seconds_of_all_phases_and_cases_are_added_up_by_folder(hook: ModuleType) -> None:
    phases = [SimpleNamespace(nodeid=nodeid, when=when, duration=duration) for nodeid, when, duration in PHASES]
    found = [(cost.folder, cost.seconds, cost.cases) for cost in hook.costs(phases)]
    assert found == [
        ("tests/mechanisms", 5.0, 2),
        ("tests/core", 3.75, 2),
        ("src/dpress", 0.125, 1),
        ("tests", 0.125, 1),
    ]
    assert hook.costs([]) == []


def test_a_folder_is_one_line(hook: ModuleType) -> None:
    assert str(hook.Cost(folder="tests/core", seconds=3.75, cases=2)) == "     3.8 s      2 cases  tests/core"
