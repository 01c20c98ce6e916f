"""Where the noise hides which group is the largest, a page opens with the largest estimates and how sure they are."""

import re

import pyarrow as pa
import pytest
from scipy import stats
from tests.kinds.conftest import KINDS, make
from tests.kinds.test_openings import CITY, FALSE_ALARM, of_towns, opening, towns

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan
from dpress.reporting import findings
from dpress.reporting.counted import MOST_GROUPS, counted
from dpress.reporting.facts import facts
from dpress.reporting.findings import CONFIDENCE


def test_of_a_near_tie_it_is_told_how_many_groups_are_no_empty_ones() -> None:
    assert "and all 5 are told from an empty one; the smallest" in of_towns(400, 403, 400, 300, 100)
    assert "and 2 of 5 are told from an empty one." in of_towns(400, 403, 0, 1, 0)
    assert "and none is told from an empty one." in of_towns(3, 3, 3, 3, 4)


def test_a_collection_opens_with_its_largest_estimates_where_the_noise_hides_which_group_is_the_largest() -> None:
    (first, found) = opening(KINDS["local of one"]()).split(". ", 1)
    assert first == "400 people reported"
    assert re.match(r"The largest estimates of region are Centre: 60 % \(10 to 100\), South: 50 % ", found)
    assert found.endswith("and 2 of 6 are told from an empty one.")


def test_of_more_groups_than_are_compared_the_largest_estimates_are_told() -> None:
    names = [f"v{number:03}" for number in range(MOST_GROUPS + 1)]
    many = {"kind": "categorical", "name": "word", "values": names}
    data = pa.table({"word": [names[7]] * 900 + names * 4})
    assert " The largest estimates of the 65 groups of word are v007: 78" in opening(
        make("histogram", [many], data=data)
    )


def hedged_of_equal_groups(monkeypatch: pytest.MonkeyPatch, runs: int) -> tuple[int, int]:
    """Return how many openings of five equal groups have an interval without 20 %: by our rule, and by a hasty one."""
    plain = {"attribute": [CITY], "privacy": {"epsilon": 0.5}, "release": {"kind": "histogram", "method": "identity"}}
    planned, data, generator = plan(from_dict(plain)), towns(40, 40, 40, 40, 40), rng.seeded(8)
    missed = {CONFIDENCE: 0, 0.5: 0}
    for _ in range(runs):
        about = facts(publish(planned, data, rng=generator))
        for confidence in missed:
            monkeypatch.setattr(findings, "CONFIDENCE", confidence)
            told = " ".join(counted(about, about.schema.tabular))
            estimates = told[told.find("largest estimates") :].partition(";")[0]
            ends = re.findall(r"% \(([\d.]+) to ([\d.]+)\)", estimates)
            missed[confidence] += any(not float(low) <= 20 <= float(high) for low, high in ends)
    return missed[CONFIDENCE], missed[0.5]


@pytest.mark.slow
def test_the_intervals_of_the_largest_estimates_hold_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever picks the largest picks errors upwards; intervals that hold half of the time are found out."""
    runs = 400
    most = stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE)
    ours, hasty = hedged_of_equal_groups(monkeypatch, runs)
    assert ours <= most < hasty


def test_the_largest_of_many_groups_are_those_of_the_shares_that_are_named() -> None:
    """Adjusted counts, of few rows those of a posterior, have another order than the shares, which are not adjusted."""
    many = [f"ward {place}" for place in range(1200)]
    column = {"kind": "categorical", "name": "ward", "values": many}
    shown = opening(make("histogram", [column], data=pa.table({"ward": many})))
    shares = [float(text) for text in re.findall(r"ward \d+: ([\d.]+) %", shown)]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)
