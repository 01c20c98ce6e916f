"""Adjustments: the projections against quadratic programs, totals, and the direction of every bias by simulation."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from dpress.core.basics import rng
from dpress.inference.normal import normal
from dpress.inference.postprocess import (
    ALPHA,
    NAMES,
    adjust,
    base_cut,
    integer,
    monotone_prefix,
    nonnegative,
    norm_sub,
    top_down,
)
from dpress.noise.laplace import DiscreteLaplace

FALSE_ALARM = 1e-6
Z = 4.9  # two-sided normal quantile of FALSE_ALARM
DRAWS = 4000
eighths = st.integers(-400, 400).map(lambda eighth: eighth / 8)  # sums of these are exact
tables = st.lists(eighths, min_size=1, max_size=7).map(np.array)


def applied(name, counts):
    """One adjustment of a table of 100 people whose counts have standard error 4."""
    if NAMES[name].together:
        return NAMES[name].function([counts], [(0,)], (counts.size,), [np.full(counts.size, 16.0)])[0]
    given = {"shape": (counts.size,), "noise": lambda weights: 16.0 * float(weights[0] @ weights[0])}
    return adjust(counts, [name], users=100, deviations=np.full(counts.size, 4.0), **given)


def faces(size):
    """Every set of cells that may be above zero, as a mask."""
    return (np.array([mask >> cell & 1 for cell in range(size)], dtype=bool) for mask in range(1, 1 << size))


def nearest_on_simplex(counts, total=None):
    """The projection by brute force: on every face, moved evenly onto the total; the nearest that is feasible."""
    total = counts.sum() if total is None else total
    best, distance = None, math.inf
    for kept in faces(counts.size):
        moved = np.where(kept, counts - (counts[kept].sum() - total) / kept.sum(), 0.0)
        own = float(((moved - counts) ** 2).sum())
        if moved.min() >= -1e-12 and own < distance:
            best, distance = moved, own
    return best


@given(tables)
def test_nonnegative_is_the_projection_on_the_scaled_simplex(counts):
    expected = nearest_on_simplex(counts) if counts.sum() > 0 else np.zeros(counts.size)
    assert nonnegative(counts) == pytest.approx(expected, abs=1e-9)


def clip_then_move(counts, users):
    """Norm-Sub as it is often programmed: clip at zero, move the cells above it onto the total, again until it fits."""
    counts = np.maximum(counts, 0)
    while counts.any():
        kept = counts > 0
        counts[kept] += (users - counts.sum()) / kept.sum()
        if counts.min() >= 0:
            return counts
        counts = np.maximum(counts, 0)
    return counts


@given(tables, st.integers(1, 90))
def test_norm_sub_is_the_projection_on_the_simplex_of_all_users(counts, users):
    adjusted = norm_sub(counts, users=users)
    assert adjusted == pytest.approx(nearest_on_simplex(counts, users), abs=1e-9)
    assert adjusted.sum() == pytest.approx(users)
    assert NAMES["simplex"].function is NAMES["norm_sub"].function


@given(tables, st.integers(1, 90))
def test_the_loop_that_clips_first_agrees_where_the_counts_above_zero_reach_the_users(counts, users):
    if np.maximum(counts, 0).sum() >= users:
        assert clip_then_move(counts, users) == pytest.approx(norm_sub(counts, users=users), abs=1e-9)


def test_the_loop_that_clips_first_is_not_the_projection_elsewhere():
    counts = np.array([5.0, -1.0])
    assert clip_then_move(counts, 10).tolist() == [10, 0]
    assert norm_sub(counts, users=10).tolist() == [8, 2]


@given(tables)
def test_norm_sub_of_the_own_total_is_nonnegative(counts):
    if counts.sum() > 0 and counts.sum() % 1 == 0:
        assert norm_sub(counts, users=int(counts.sum())) == pytest.approx(nonnegative(counts), abs=1e-9)


def test_base_cut_keeps_a_table_of_empty_cells_empty_as_often_as_it_says():
    """Normal noise on cells where nobody is: the share of tables with a survivor is near alpha, and below 2 alpha."""
    noise = DiscreteLaplace(scale=40).sample(DRAWS * 20 * 8, rng=rng.seeded(4)).reshape(DRAWS, 20, 8).sum(axis=2)
    deviations = np.full(20, math.sqrt(8 * DiscreteLaplace(scale=40).variance))
    survived = np.mean([base_cut(row.astype(float), deviations=deviations).any() for row in noise])
    assert ALPHA / 2 < survived < 2 * ALPHA


def test_base_cut_uses_every_cells_own_error():
    counts = np.array([10.0, 10.0, -30.0])
    assert base_cut(counts, deviations=np.array([1.0, 9.0, 1.0])).tolist() == [10, 0, 0]
    assert base_cut(np.array([5.0]), deviations=np.array([np.inf])).tolist() == [0]


@given(tables)
def test_nonnegative_keeps_the_total_where_it_can(counts):
    adjusted = nonnegative(counts)
    assert adjusted.min() >= 0
    assert adjusted.sum() == pytest.approx(max(0.0, counts.sum()), abs=1e-9)


@given(tables)
def test_integer_is_whole_with_the_rounded_total_and_moves_no_count_by_one(counts):
    adjusted = integer(counts)
    assert not np.any(adjusted % 1)
    assert adjusted.sum() == np.rint(counts.sum())
    assert np.abs(adjusted - counts).max() < 1


@given(tables)
def test_integer_rounds_the_largest_remainders_up(counts):
    remainders = counts - np.floor(counts)
    up = integer(counts) > np.floor(counts)
    assert not up.any() or up.all() or remainders[up].min() >= remainders[~up].max()


@given(tables)
def test_running_totals_are_the_nearest_that_never_fall(counts):
    adjusted = monotone_prefix(counts)
    fitted = np.cumsum(adjusted)
    lower = np.tril(np.ones((counts.size, counts.size)))
    bounds = (np.array([-np.inf, *np.zeros(counts.size - 1)]), np.inf)
    program = lsq_linear(lower, np.cumsum(counts), bounds, method="bvls", tol=1e-14)
    assert np.all(np.diff(fitted) >= -1e-9)
    assert adjusted[1:] == pytest.approx(np.maximum(adjusted[1:], 0), abs=1e-9)
    assert fitted == pytest.approx(lower @ program.x, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@given(counts=tables)
def test_a_second_time_changes_nothing_and_the_argument_stays(name, counts):
    before = counts.copy()
    counts.flags.writeable = False
    once = applied(name, counts)
    if name != "posterior":  # which takes what it is given as noisy again
        assert applied(name, once) == pytest.approx(once, abs=1e-9)
    assert np.array_equal(counts, before)
    assert once.dtype == np.float64
    assert not np.shares_memory(once, counts)


@given(tables)
def test_whole_and_nonnegative_in_the_right_order(counts):
    adjusted = adjust(counts, ["nonnegative", "integer"])
    assert adjusted.min() >= 0
    assert not np.any(adjusted % 1)
    assert np.array_equal(adjusted, integer(nonnegative(counts)))
    whole = adjust(counts, ["monotone_prefix", "integer"])
    assert not np.any(whole % 1)
    assert np.all(whole[1:] >= 0)


def test_the_order_matters():
    counts = np.array([7.0, 2.0, -3.0])
    assert adjust(counts, ["integer", "nonnegative"]).tolist() == [5.5, 0.5, 0]
    assert adjust(counts, ["nonnegative", "integer"]).tolist() == [6, 0, 0]
    assert adjust(counts, []) is counts


@pytest.mark.parametrize("counts", [[1e16, -1.0, 1e-20], [1e-300, 0.0, -0.0], [-5.0], [0.0, 0.0], [3.0, -3.0]])
def test_extreme_tables_stay_finite(counts):
    for name, named in NAMES.items():
        assert named.function.__name__ in (name, "norm_sub")
        adjusted = applied(name, np.array(counts))
        assert np.all(np.isfinite(adjusted)), name
        assert name != "nonnegative" or adjusted.min() >= 0


def test_a_million_cells_keep_their_total():
    counts = DiscreteLaplace(scale=3).sample(1 << 20, rng=rng.seeded(5)) + 1.25
    adjusted = nonnegative(counts)
    whole = integer(adjusted)
    assert adjusted.min() == whole.min() == 0
    assert adjusted.sum() == pytest.approx(counts.sum(), abs=1e-3)
    assert whole.sum() == np.rint(adjusted.sum())


def drift(truth, names):
    """The mean change against the truth of every cell and of the total, in standard errors of that mean."""
    noise = DiscreteLaplace(scale=4).sample(DRAWS * truth.size, rng=rng.seeded(11)).reshape(DRAWS, truth.size)
    known = {"users": int(truth.sum()), "deviations": np.full(truth.size, math.sqrt(DiscreteLaplace(scale=4).variance))}
    adjusted = np.array([adjust(row, names, **known) for row in truth + noise])
    errors = np.column_stack([adjusted - truth, adjusted.sum(axis=1) - truth.sum()])
    return errors.mean(axis=0) / (errors.std(axis=0) / math.sqrt(DRAWS))


def test_the_unadjusted_counts_are_not_biased():
    """The negative control: the same noise, nothing named."""
    assert np.abs(drift(np.array([40.0, 30, 0, 0, 1, 0]), [])).max() < Z


def test_nonnegative_pushes_small_counts_up_and_large_ones_down_and_keeps_the_total():
    score = drift(np.array([40.0, 30, 0, 0, 1, 0]), ["nonnegative"])
    assert np.all(score[:2] < -Z)
    assert np.all(score[2:6] > Z)
    assert abs(score[6]) < Z


@pytest.mark.parametrize("name", ["norm_sub", "simplex"])
def test_norm_sub_pushes_small_counts_up_and_large_ones_down(name):
    score = drift(np.array([40.0, 30, 0, 0, 1, 0]), [name])[:6]
    assert np.all(score[:2] < -Z)
    assert np.all(score[2:] > Z)


def test_base_cut_pushes_middling_counts_and_the_total_down_and_empty_cells_up():
    score = drift(np.array([200.0, 10, 8, 12, 0, 0]), ["base_cut"])
    assert abs(score[0]) < Z
    assert np.all(score[1:4] < -Z)
    assert np.all(score[4:6] > Z)
    assert score[6] < -Z


def test_nonnegative_pushes_the_total_of_an_empty_table_up():
    assert drift(np.zeros(4), ["nonnegative"])[-1] > Z


def test_monotone_prefix_pushes_the_first_count_down_and_the_total_up():
    score = drift(np.array([5.0, 0, 0, 0, 5]), ["monotone_prefix"])
    assert np.all(score[[0, 4]] < -Z)  # large ones beside small ones
    assert np.all(score[1:4] > Z)
    assert score[5] > Z


@given(tables)
def test_monotone_prefix_never_raises_the_first_count_nor_lowers_the_total(counts):
    adjusted = monotone_prefix(counts)
    assert adjusted[0] <= counts[0] + 1e-9
    assert adjusted.sum() >= counts.sum() - 1e-9


def test_integer_pushes_the_earlier_of_equal_remainders_up():
    assert integer(np.array([0.5, 0.5, 1.5, 1.5])).tolist() == [1, 1, 1, 1]
    assert integer(np.full(3, 1 / 3)).tolist() == [1, 0, 0]


def test_counts_far_from_zero_are_not_touched_by_what_is_about_zero():
    """The other control: where nothing falls below zero, there is nothing to be biased by."""
    counts = np.array([40.0, 30, 50])
    assert np.array_equal(nonnegative(counts), counts)
    assert np.array_equal(monotone_prefix(counts), counts)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_says_in_which_direction_it_is_biased(name):
    function, bias, needs, local, *_ = NAMES[name]
    assert function.__name__ == ("norm_sub" if name == "simplex" else name)
    assert not local or needs
    assert bias.startswith("Biased")
    assert bias.count(". ") == 0
    assert bias.endswith(".")
    words = function.__doc__
    assert all(f"{word}:" in words for word in ("Biased", "Error", "Order"))
    assert "Error: not known exactly" in words
    assert {"up", "down"} <= set(bias.replace(",", " ").replace(".", " ").split())


def test_scipy_is_not_loaded_before_it_is_needed():
    script = "import sys, dpress.inference.postprocess; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@given(tables, st.integers(0, 60))
def test_top_down_keeps_every_half_at_zero_or_above_and_the_number_of_users(counts, users):
    adjusted = top_down(counts, users=users)
    assert adjusted.min() >= 0
    assert adjusted.sum() == pytest.approx(users)
    assert top_down(counts, users=None).sum() == pytest.approx(max(counts.sum(), 0))


def test_top_down_leaves_counts_that_fit_and_is_the_nearest_split_of_two():
    fits = np.array([3.0, 0.0, 2.0, 1.0, 4.0])
    assert np.allclose(top_down(fits, users=10), fits)
    pair = np.array([5.0, -3.0])
    assert np.allclose(top_down(pair, users=4), nearest_on_simplex(pair, 4.0))


def test_top_down_takes_noise_out_of_ranges_where_nobody_is_and_nonnegative_does_not():
    truth = np.zeros(256)
    truth[40:44] = 500
    noisy = truth + 20 * normal(200 * 256, rng=rng.seeded(5)).reshape(200, 256)
    found = {
        "none": noisy, "nonnegative": np.array([nonnegative(one) for one in noisy]),
        "top_down": np.array([top_down(one, users=2000) for one in noisy]),
    }  # fmt: skip
    error = {name: np.mean((own[:, 60:200].sum(axis=1)) ** 2) for name, own in found.items()}
    assert error["top_down"] < error["none"] / 4 < error["nonnegative"]
