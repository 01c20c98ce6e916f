"""The most frequent of names that nobody listed is named only where it is told from all others."""

import pyarrow as pa
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.kinds.names.answers import ANSWERING
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan
from dpress.reporting import most_frequent as compared
from dpress.reporting.counts import facts_of_values
from dpress.reporting.findings import CONFIDENCE, Groups
from dpress.reporting.most_frequent import most_frequent

FALSE_ALARM = 1e-6  # that the test of ties fails though no more of them are named than is said


def hasty(groups: Groups) -> int | None:
    return 0 if groups.exceeds(0, 1, 0.02) else None


def sentences(counts: list[int], method: str, runs: int) -> list[tuple[str, bool]]:
    """Return what is said of the most frequent name in so many releases, and whether a hasty rule would name one."""
    column = {"kind": "categorical", "name": "word", "values": "discover"}
    privacy = {"epsilon": 1.0, "delta": 1e-5}
    spec = from_dict({"attribute": [column], "privacy": privacy, "release": {"kind": "names", "method": method}})
    rows = pa.table({"word": [f"word {place}" for place, count in enumerate(counts) for _ in range(count)]})
    planned, generator, told = plan(spec), rng.seeded(3), []
    for _ in range(runs):
        answers = ANSWERING.of(publish(planned, rows, rng=generator))
        about, released = facts_of_values(answers), len(answers.values)
        with pytest.MonkeyPatch.context() as patch:
            text = most_frequent(about, released)
            patch.setattr(compared, "largest", hasty)
            told.append((text, most_frequent(about, released).startswith("The most frequent")))
    return told


METHODS = ("partition_selection", "gaussian_threshold")


@pytest.mark.parametrize("method", METHODS)
def test_a_name_that_is_told_from_all_others_is_named(method: str) -> None:
    ((text, _),) = sentences([30, 200, 40], method, 1)
    assert text.startswith("The most frequent is word 1: ")


@pytest.mark.parametrize("method", METHODS)
def test_of_one_name_nothing_is_compared(method: str) -> None:
    assert sentences([200], method, 1)[0][0] == ""


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [10, 60])
def test_ties_are_named_no_more_often_than_is_said(method: str, height: int) -> None:
    """Of names that the threshold leaves few of, and of names that it leaves all; a hasty rule is caught at it."""
    runs = 150
    most = stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE)
    told = sentences([height] * 40, method, runs)
    assert sum(text.startswith("The most frequent") for text, _ in told) <= most
    assert sum(wrong for _, wrong in told) > (most if height == 60 else 0)
