"""No test fails by chance, nor because a machine is slow."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from tests.seeded.seeded_stream import Stream, drawing

from dpress.core.basics.rng import secure

TESTS = Path(__file__).parents[1]
FILES = {path.relative_to(TESTS).as_posix(): path.read_text() for path in sorted(TESTS.rglob("*.py"))}
LARGEST_CHANCE = 1e-6
SHORTEST_LIMIT = 1200  # seconds: ten times what a process of these tests takes on a machine five times loaded
DRAWS = re.compile(r'"(publish|perturb|estimate|demo|audit)"|\bsecure\(')
OWN_PROCESSES = {
    "matrix/runs.py": "its process draws a page of what is published; the noise is drawn in the test's own",
    "core/test_rng.py": "forks draw real bytes, and compares streams of 64 bits and more: equal with chance 2^-64",
    "flow/test_packages.py": "looks at exit codes and files, whatever the demo publishes",
    "flow/test_use_from_r.py": "sums fifty rows to within 60 with noise of some 6: wrong once in 10^20 runs",
    "flow/without_posix.py": "looks at exit codes and at what an account holds, whatever is published or estimated",
    "meta/test_house.py": "reads names, and draws nothing",
    "meta/test_outside.py": "looks at exit codes and words, whatever is published or estimated",
    "meta/test_start.py": "looks at the modules that are loaded, whatever is published",
    "service/pages/test_demo_collection.py": "counts reports and looks at exit codes, whatever the reports say",
}
"""Files that start processes of their own, name what draws, and have no test that fails by chance; beside them only
`flow/test_readme.py`, whose blocks of the README and of other documents draw from streams named after the document, in
this process and in others: what they show and assert is decided once, and no false alarm is left to chance. All others
use `flow/conftest.py`."""


def chance(text):
    """Return the FALSE_ALARM that a file states, or None."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == ["FALSE_ALARM"]:
            return ast.literal_eval(node.value)
    return None


def limits(text):
    """Yield the time limits of a file that are written as numbers, by name or in place."""
    tree = ast.parse(text)
    named = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "timeout":
            value = named.get(getattr(node.value, "id", ""), node.value)
            if isinstance(value, ast.Constant) and value.value is not None:
                yield value.value


def unstated(files):
    """Return the files with a test that draws real noise and no chance of a false alarm small enough."""
    marked = [name for name, text in files.items() if "mark.secure" in text and name != "meta/test_seeded.py"]
    return [name for name in marked if not 0 < (chance(files[name]) or 1) <= LARGEST_CHANCE]


def unseeded(files):
    """Return the files that start processes of their own which draw noise."""
    starts = [name for name, text in files.items() if re.search(r"subprocess\.|Popen|multiprocessing|os\.fork", text)]
    return {name for name in starts if DRAWS.search(files[name])} - {"meta/test_seeded.py"}


def test_a_secure_generator_draws_the_same_noise_every_day(request):
    expected = Stream(request.node.nodeid)
    with drawing("another"):
        other = secure().words(4)
    own = secure()
    assert own.private
    with drawing(request.node.nodeid):
        again = secure().words(4)
    assert (own.words(4) == again).all()
    assert not (again == other).any()
    assert expected(32) != expected(32)


@pytest.fixture(scope="module")
def drawn_once():
    return secure().words(2)


def test_a_fixture_that_outlives_a_test_draws_the_same_too(drawn_once):
    with drawing("meta/test_seeded.py drawn_once 0"):
        assert drawn_once.dtype == secure().words(2).dtype
    assert np.unique(drawn_once).size == 2


def test_what_draws_real_noise_states_its_chance_of_a_false_alarm():
    assert unstated(FILES) == []


def test_processes_that_draw_noise_are_seeded_or_their_tests_cannot_fail_by_chance():
    assert unseeded(FILES) == set(OWN_PROCESSES)


def test_no_process_is_given_up_because_a_machine_is_slow():
    assert {name: least for name, text in FILES.items() if (least := min(limits(text), default=9999)) < 1200} == {}


def test_the_checks_find_what_they_are_for():
    marked = "import pytest\n@pytest.mark.secure\ndef test_a(): pass\n"
    planted = {"a.py": marked, "b.py": f"FALSE_ALARM = 1e-3\n{marked}", "c.py": f"FALSE_ALARM = 1e-9\n{marked}"}
    assert unstated(planted) == ["a.py", "b.py"]
    assert unseeded({"a.py": 'subprocess.run(["dpress", "publish"])', "b.py": 'subprocess.run(["ls"])'}) == {"a.py"}
    assert list(limits("SHORT = 60\nrun(timeout=120)\nrun(timeout=SHORT)\nrun(timeout=None)")) == [120, 60]
