"""dam: the exact channel, reports that follow it, the map that comes out, simulated collections like real ones."""

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.reports.oracle import Channel
from dpress.inference.poisson import poisson
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.spatial.documents.dam import CARD, Dam, dam
from dpress.mechanisms.spatial.documents.disk import likeliest
from dpress.mechanisms.spatial.documents.disk_reports import DiskReports
from dpress.mechanisms.spatial.map_decoder import MapDecoder

FALSE_ALARM = 1e-6


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def reports(side: int, epsilon: str = "1") -> DiskReports:
    return DiskReports(grid=Grid(side), loss=PureDP(epsilon=epsilon))


def made(side: int, epsilon: float = 1) -> Dam:
    return Dam(oracle=DiskReports(grid=Grid(side), loss=PureDP(epsilon=epsilon)))


@pytest.mark.parametrize(("side", "epsilon"), [(2, "0.5"), (3, "1"), (4, "0.5"), (4, "3"), (5, "1")])
def test_the_channel_costs_exactly_epsilon_and_five_percent_more_is_caught(
    checks: ModuleType, side: int, epsilon: str
) -> None:
    own = reports(side, epsilon)
    channel = own.channel()
    assert checks.rows_add_up(channel)
    assert checks.keeps_promise([channel], epsilon)
    assert checks.spends_all([channel], epsilon)
    assert own.claim.proven == own.claim.published == PureDP(epsilon=epsilon)
    assert len({tuple(sorted(row)) for row in channel.probabilities}) == 1  # as many near and far ones for everybody
    planted = reports(side, str(Fraction(epsilon) * Fraction(21, 20))).channel()
    assert not checks.keeps_promise([planted], epsilon)


@pytest.mark.parametrize("side", [3, 4])
def test_reports_follow_the_channel_and_a_swap_is_caught(checks: ModuleType, side: int) -> None:
    own = reports(side)
    assert own.disk.radius >= 1
    channel, generator = own.channel(), rng.seeded(1)
    assert all(checks.reports_fit(own, channel, value, 20_000, generator) for value in (0, 1, own.size - 1))
    swapped = Channel(payloads=channel.payloads, probabilities=channel.probabilities[::-1])
    assert not checks.reports_fit(own, swapped, 0, 20_000, generator)


def test_blocks_join_wide_numbers_fit_and_what_cannot_be_is_named() -> None:
    own = reports(64)
    assert own.width == 2
    values = np.arange(20_000, dtype=np.int32) % own.size
    payloads = own.perturb(values, rng=rng.seeded(1))
    assert not own.faults(payloads)["out of range"].any()
    tally = own.tally(payloads)
    assert tally.shape == (own.disk.outputs,)
    assert np.array_equal(tally, own.tally(payloads[:7]) + own.tally(payloads[7:]))
    assert own.faults(np.full((1, 2), 255, np.uint8))["out of range"].all()
    with pytest.raises(ValueError, match="between 0 and 4095"):
        own.perturb(np.array([4096], np.int32), rng=rng.seeded(1))


def test_without_a_radius_it_is_krr() -> None:
    own = reports(4, "12")
    assert own.disk.radius == 0
    other = Krr(size=16, loss=own.loss)
    assert own.blur.near == other.p
    assert own.blur.far == other.q
    assert reports(1).perturb(np.zeros(3, np.int32), rng=rng.seeded(1)).tolist() == [[0]] * 3
    assert reports(1).channel().probabilities == ((Fraction(1),),)


def test_the_measured_reports_have_the_variance_they_state() -> None:
    own, users = reports(4), 900
    channel = np.array([[float(entry) for entry in row] for row in own.channel().probabilities])
    counts = np.zeros(16)
    counts[5] = users
    mean, spread = counts @ channel, counts @ (channel * (1 - channel))
    measured = own.estimate(np.rint(mean).astype(np.int64), users)
    assert np.allclose(measured.map.apply(counts), mean)
    assert np.allclose(measured.variance, spread, rtol=0.02)
    near = channel[5] == channel[5].max()
    assert own.variance(users, 1.0) == pytest.approx(spread[near].mean())
    assert own.variance(users) == pytest.approx(spread[~near].mean())


def testpoisson_numbers_have_their_mean_and_variance() -> None:
    size = 40_000
    for mean in (0.02, 0.7, 9.0, 11.0, 300.0):
        found = poisson(np.full(size, mean), rng=rng.seeded(3))
        assert found.min() >= 0
        assert abs(found.mean() - mean) < z(10) * math.sqrt(mean / size)
        fourth = 2 + 1 / mean
        assert abs(found.var() / mean - 1) < z(10) * math.sqrt(fourth / size) + (0.125 / mean if mean > 10 else 0)


def clustered(side: int, users: int) -> np.ndarray:
    """Counts in cell order: half of the users in one corner cell block, half spread."""
    image = np.full((side, side), users / 2 / side**2)
    image[: side // 4, : side // 4] += users / 2 / (side // 4) ** 2
    return Grid(side).flat(np.rint(image))


def collected(own: Dam, counts: np.ndarray, generator: rng.Generator) -> np.ndarray:
    """One real collection: every position perturbed on its own, tallied, with the number of reports last."""
    codes = np.repeat(np.arange(counts.size, dtype=np.int32), counts.astype(int))
    payloads = own.oracle.perturb(codes, rng=generator)
    return np.append(own.oracle.tally(payloads), len(payloads))


def test_simulated_reports_are_like_real_ones_in_mean_and_variance() -> None:
    own, users, runs = made(8), 6400, 60
    counts = clustered(8, users)
    users = int(counts.sum())
    expected, generator = own.map.apply(counts), rng.seeded(4)
    real = np.stack([own.measurement([collected(own, counts, generator)]).answers for _ in range(runs)])
    again = np.stack([own.simulated(counts, users, rng=generator).answers for _ in range(runs)])
    spread = own.oracle.estimate(np.rint(expected).astype(np.int64), users).variance
    size = expected.size * runs
    for found in (real, again):
        errors = (found - expected) / np.sqrt(spread)
        assert (np.abs(errors.mean(axis=0)) < z(4 * expected.size) * math.sqrt(1.2 / runs)).all()
        assert abs((errors**2).mean() - 1) < z(4) * math.sqrt(3 / size) + 0.02  # Poisson for binomial numbers
    shifted = (real - own.map.apply(counts[::-1])) / np.sqrt(spread)
    assert (np.abs(shifted.mean(axis=0)) > z(4 * expected.size) * math.sqrt(1.2 / runs)).any()


def test_the_map_finds_a_known_density() -> None:
    own = made(8, 3)
    counts = clustered(8, 40_000)
    measurement = own.measurement([collected(own, counts, rng.seeded(5))])
    density = own.decoded(measurement, int(counts.sum()))
    corner = Rectangles(*(np.array([end]) for end in (0.0, 2.0, 0.0, 2.0)))
    truth = Grid(8).image(counts)[:2, :2].sum()
    bootstrap = MapDecoder(own, int(counts.sum())).density(measurement)
    error = math.sqrt(bootstrap.variances(corner)[0])
    assert np.isinf(density.variances(corner)).all()
    assert np.isinf(density.cell_variances()).all()
    assert density.counts.sum() == pytest.approx(counts.sum())
    # 24 replicates: the bound is that of Student's t with 24 degrees of freedom, and the estimate is biased a little
    assert abs(density.values(corner)[0] - truth) < 1.5 * 6.5 * error
    assert error < 0.05 * truth
    wrong = own.decoded(replace(measurement, answers=measurement.answers[::-1]), int(counts.sum()))
    assert abs(wrong.values(corner)[0] - truth) > 1.5 * 6.5 * error


def test_a_replicate_without_reports_has_nobody_anywhere_in_particular() -> None:
    own = made(4)
    assert likeliest(own.map, np.zeros(own.oracle.disk.outputs)) == pytest.approx(np.full((4, 4), 1 / 16))


def test_nobody_and_other_losses_are_refused() -> None:
    own = made(4)
    with pytest.raises(ValueError, match="no report"):
        own.measurement([np.zeros(own.oracle.disk.outputs + 1, np.int64)])
    assert dam(Grid(4), ZCDP(rho=1)) is None
    assert CARD.spatial is dam
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        reports(4).__class__(grid=Grid(4), loss=ZCDP(rho=1))  # type: ignore[arg-type]


def test_the_mean_variance_falls_with_epsilon_and_a_report_takes_places() -> None:
    assert made(8, 3).mean_variance(10_000) < made(8, 1).mean_variance(10_000)
    (asked,) = made(4).types
    places = np.array([[0, 3], [1, 3]], np.int32)
    expected = made(4).oracle.perturb(Grid(4).code(*places), rng=rng.seeded(6))
    assert np.array_equal(asked.perturb(places, rng=rng.seeded(6)), expected)
