"""Intervals of counts that cut tiles hold them wherever people are in the tiles: by real reports."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from dpress.core.basics.rng import seeded
from dpress.data.specification.spec import from_dict
from dpress.kinds.ranges.left_open import LeftOpen
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan

USERS, RUNS = 6000, 25
FALSE_ALARM = 1e-6
LEAST = int(binom.ppf(FALSE_ALARM / 8, RUNS, 0.95))
"""Of so many collections, how many intervals of a query hold at least, were it 95 of 100."""


def people():
    """Most at one age and one number of hours, which are neither in the middle of a tile nor independent in one."""
    draw = np.random.default_rng(3)  # noqa: TID251  # made-up people
    age, hours = draw.integers(0, 64, USERS), draw.integers(0, 80, USERS)
    full = np.arange(USERS) < 0.6 * USERS
    return pa.table({"age": np.where(full, 21, age), "hours": np.where(full, 41, hours)})


ASKED = {
    "age = 21": {"age": (21, 21)},
    "age in 18..20": {"age": (18, 20)},
    "hours in 30..41": {"hours": (30, 41)},
    "hours in 42..60": {"hours": (42, 60)},
    "age in 21..40 and hours in 41..41": {"age": (21, 40), "hours": (41, 41)},
    "age in 0..21 and hours in 42..79": {"age": (0, 21), "hours": (42, 79)},
    "age in 20..22 and hours in 40..42": {"age": (20, 22), "hours": (40, 42)},
}


def true(rows, ranges):
    held = np.ones(USERS, dtype=bool)
    for name, (low, high) in ranges.items():
        held &= (rows[name].to_numpy() >= low) & (rows[name].to_numpy() <= high)
    return int(held.sum())


def planned(*names, **release):
    sizes = {"age": 64, "hours": 80}
    attributes = [{"kind": "integer", "name": name, "bounds": [0, sizes[name] - 1]} for name in names]
    release = {"kind": "ranges", "parameters": {"users": USERS}, **release}
    return plan(from_dict({"attribute": attributes, "privacy": {"model": "local", "epsilon": 2.0}, "release": release}))


@pytest.mark.slow
def test_counts_that_cut_tiles_of_grids_are_held_and_would_not_be_by_the_noise_alone(tmp_path):
    design, rows = planned("age", "hours").design, people()
    inside, alone, cut = (dict.fromkeys(ASKED, 0) for _ in range(3))
    for run in range(RUNS):
        perturb(design, rows, out=tmp_path / f"{run}", rng=seeded(run))
        release = estimate(design, tmp_path / f"{run}")
        for text, ranges in ASKED.items():
            found, truth = release.query(text), true(rows, ranges)
            inside[text] += found.interval[0] <= truth <= found.interval[1]
            alone[text] += abs(found.value - truth) <= 1.96 * found.standard_error + 1
            cut[text] += found.within is not None
            assert found.interval[0] <= found.value <= found.interval[1]
    assert min(inside.values()) >= LEAST, inside
    assert sum(number == RUNS for number in cut.values()) >= 4  # most of the queries cut tiles
    assert min(alone.values()) < 0.2 * RUNS  # what was stated before


@pytest.mark.slow
def test_cells_and_many_ranges_are_stated_as_queries_are(tmp_path):
    design, rows = planned("age", "hours").design, people()
    perturb(design, rows, out=tmp_path / "reports", rng=seeded(5))
    release = estimate(design, tmp_path / "reports")
    box = release.query("age in 20..22 and hours in 40..42")
    (many,) = release.answers.query_ranges([[21, 41]], [[23, 43]]).to_pylist()
    assert (many["low"], many["high"]) == pytest.approx(box.interval)
    tables = release.answers.all_tables
    ages = tables["age.parquet"]
    (cell,) = ages.filter(pa.compute.equal(ages["age"], "21")).to_pylist()
    asked = release.query("age = 21")
    assert (cell["low"], cell["high"]) == pytest.approx(asked.interval)
    assert cell["low"] <= true(rows, ASKED["age = 21"]) <= cell["high"]
    pairs = tables["age-hours.parquet"]
    named = pa.compute.and_(pa.compute.equal(pairs["age"], "21"), pa.compute.equal(pairs["hours"], "41"))
    (cell,) = pairs.filter(named).to_pylist()
    asked = release.query("age = 21 and hours = 41")
    assert (cell["low"], cell["high"]) == pytest.approx(asked.interval)
    assert asked.interval[0] <= true(rows, {"age": (21, 21), "hours": (41, 41)}) <= asked.interval[1]


@pytest.mark.slow
def test_counts_that_cut_intervals_of_a_tree_that_grew_are_held(tmp_path):
    """One round asks for halves of halves alone: most cells share an interval with others."""
    rows = people().select(["age"])
    design = planned("age", method="ahead", parameters={"users": USERS, "rounds": 1}).design
    perturb(design, rows, out=tmp_path / "reports", rng=seeded(1))
    release = estimate(design, tmp_path / "reports")
    for text in ("age = 21", "age in 18..20", "age in 3..40"):
        found = release.query(text)
        assert found.interval[0] <= true(rows, ASKED.get(text, {"age": (3, 40)})) <= found.interval[1]


def test_the_narrowest_bounds_count_and_each_holds_with_a_part_of_the_rest():
    found = LeftOpen(least=((10.0, 0.0), (-50.0, 4.0)), most=((90.0, 0.0), (80.0, 25.0), (400.0, 1.0)), tail="gaussian")
    assert found.within == (10, 80)
    low, high = found.interval(50.0, 0.95)
    assert (low, high) == (10, 90)  # 80 + 13 is more
    assert found.interval(5.0, 0.95)[0] == 5
    one = LeftOpen(least=((0.0, 0.0),), most=((80.0, 25.0),), tail="gaussian")
    assert one.interval(50.0, 0.95) == (0, 80 + math.ceil(1.96 * 5 + 0.5))
