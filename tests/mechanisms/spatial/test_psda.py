"""psda: exactly epsilon within a region and nothing across, unbiased counts, exact errors, simulated like real."""

import math
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
from dpress.mechanisms.spatial.documents.psda import CARD, Psda, psda
from dpress.mechanisms.spatial.safe_regions import LARGEST_SIDE, NOT_ANY, SafeRegions

FALSE_ALARM = 1e-6
ONE = PureDP(epsilon=1)
SOME = Rectangles(*(np.array(end) for end in ([0.0, 0.5, 1.0], [4.0, 3.25, 2.0], [0.0, 1.0, 0.2], [4.0, 2.5, 3.9])))


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def devices(epsilon: str = "1", levels: tuple[int, ...] = (0, 1), epsilons: tuple[str, ...] = ()) -> SafeRegions:
    return SafeRegions(grid=Grid(4), loss=PureDP(epsilon=epsilon), region_levels=levels, epsilons=epsilons)


def within(own: SafeRegions, channel: Channel, region: int) -> Channel:
    """The channel given that a user named this region: its reports, for the cells that lie in it."""
    columns = np.flatnonzero(channel.payloads[:, 1 if own.pcep.rows < 129 else 2] == region)
    cells = own.pcep.regions[region]
    rows = []
    for cell in cells:
        kept = [channel.probabilities[cell][column] for column in columns]
        whole = sum(kept)
        scaled = {entry: entry / whole for entry in set(kept)}
        rows.append(tuple(scaled[entry] for entry in kept))
    return Channel(payloads=channel.payloads[columns], probabilities=tuple(rows))


@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_within_a_region_it_costs_exactly_epsilon_and_five_percent_more_is_caught(
    checks: ModuleType, epsilon: str
) -> None:
    own = devices(epsilon)
    channel = own.channel()
    assert checks.rows_add_up(channel)
    found = [within(own, channel, region) for region in range(5)]
    assert checks.keeps_promise(found, epsilon)
    assert all(checks.spends_all([one], epsilon) for one in found)
    more = devices(str(1.05 * float(epsilon)))
    assert not checks.keeps_promise([within(more, more.channel(), region) for region in range(5)], epsilon)


def test_between_regions_nothing_is_promised_and_the_claim_says_so(checks: ModuleType) -> None:
    assert checks.loss(devices().channel()) == math.inf
    assert NOT_ANY in devices().claim.basis
    assert "between the values of a user's public region" in devices().claim.basis
    everywhere = devices(levels=(0,))
    assert checks.keeps_promise([everywhere.channel()], "1")
    assert NOT_ANY not in everywhere.claim.basis
    assert everywhere.claim.proven == everywhere.claim.published == ONE
    assert devices().claim.published == ONE
    assert devices().claim.proven is None
    assert "not between any two positions" in CARD.summary


def test_every_user_has_an_epsilon_of_the_list_and_none_exceeds_the_spec(checks: ModuleType) -> None:
    own = devices("2", epsilons=("0.5", "2"))
    channel = own.channel()
    found = within(own, channel, 0)
    for level, epsilon in enumerate(("0.5", "2")):
        columns = np.flatnonzero(found.payloads[:, -1] == level)
        rows = tuple(tuple(2 * row[column] for column in columns) for row in found.probabilities)
        one = Channel(payloads=found.payloads[columns], probabilities=rows)
        assert checks.rows_add_up(one)
        assert checks.keeps_promise([one], epsilon)
        assert checks.spends_all([one], epsilon)
    assert own.claim.published == PureDP(epsilon=2)
    assert devices("2", epsilons=("0.5", "1")).claim.published == ONE
    assert devices("2", levels=(0,), epsilons=("0.5", "1")).claim.proven == ONE
    with pytest.raises(ValueError, match="epsilons must be at most 2"):
        devices("2", epsilons=("2.1",))


def test_reports_follow_the_channel_and_another_cells_is_told_apart(checks: ModuleType) -> None:
    own, generator = devices(epsilons=("0.5", "1")), rng.seeded(1)
    channel = own.channel()
    assert all(checks.reports_fit(own, channel, value, 30_000, generator) for value in (0, 6, 15))
    swapped = Channel(payloads=channel.payloads, probabilities=channel.probabilities[::-1])
    assert not checks.reports_fit(own, swapped, 0, 30_000, generator)


def clustered() -> np.ndarray:
    return np.array([400, 300, 0, 0, 200, 100, 50, 50, 0, 0, 0, 10, 0, 0, 0, 90])


def made(side: int, loss: PureDP, levels: tuple[int, ...], epsilons: tuple[Fraction, ...] = ()) -> Psda:
    return Psda(oracle=SafeRegions(grid=Grid(side), loss=loss, region_levels=levels, epsilons=epsilons))


def collected(own: Psda, counts: np.ndarray, generator: rng.Generator) -> np.ndarray:
    codes = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    payloads = own.oracle.perturb(codes, rng=generator)
    assert not any(mask.any() for mask in own.oracle.faults(payloads).values())
    return np.append(own.oracle.tally(payloads), len(payloads))


def test_counts_are_unbiased_and_their_errors_as_stated() -> None:
    own = made(4, PureDP(epsilon=2), (0, 1), (1, 2))
    counts, runs, generator = clustered(), 300, rng.seeded(2)
    users, truth = int(counts.sum()), Grid(4).image(counts.astype(float))
    found, stated = [], []
    for _ in range(runs):
        density = own.decoded(own.measurement([collected(own, counts, generator)]), users)
        found.append(density.counts)
        stated.append(density.cell_variances())
    errors, variance = np.stack(found) - truth, np.mean(stated, axis=0)
    assert np.abs(errors.sum(axis=(1, 2))).max() < 1e-6 * users  # everybody is counted, whatever the noise
    assert (np.abs(errors.mean(axis=0)) < z(64) * np.sqrt(1.3 * variance / runs)).all()
    ratio = (errors**2).mean(axis=0).mean() / variance.mean()
    assert abs(ratio - 1) < z(4) * math.sqrt(2 / runs / 8) + 0.03  # the mean of 16 cells, of which half count
    again = [own.decoded(own.simulated(counts.astype(float), users, rng=generator), users).counts for _ in range(runs)]
    squares = [((np.stack(one) - truth) ** 2).mean() for one in (found, again)]
    assert abs(math.log(squares[0] / squares[1])) < z(4) * math.sqrt(2 * 2 / runs / 8) + 0.03  # simulated as real ones
    assert (np.abs((errors + truth - truth[::-1]).mean(axis=0)) > z(64) * np.sqrt(1.3 * variance / runs)).any()


def test_errors_of_rectangles_are_those_of_repeated_collections() -> None:
    own = made(4, ONE, (0, 1))
    counts, generator, runs = clustered(), rng.seeded(3), 400
    densities = [own.decoded(own.measurement([collected(own, counts, generator)]), 0) for _ in range(runs)]
    values = np.stack([one.values(SOME) for one in densities])
    stated = densities[0].variances(SOME)
    assert stated[0] == pytest.approx(0, abs=1e-6)
    ratio = values.var(axis=0)[1:] / stated[1:]
    # the projection's own correlations: 1 / sqrt(128 rows) for a handful of cells
    assert (np.abs(ratio - 1) < z(8) * math.sqrt(2 / runs) + 0.25).all()


def test_the_expected_error_falls_with_smaller_regions() -> None:
    wide, narrow = (made(8, ONE, levels) for levels in ((0,), (2,)))
    assert narrow.mean_variance(10_000) < wide.mean_variance(10_000)
    assert wide.mean_variance(20_000) == pytest.approx(2 * wide.mean_variance(10_000))


def test_bad_arguments_are_refused_and_what_it_does_not_serve_is_none() -> None:
    for levels in ((), (1, 0), (0, 0), (2,)):
        with pytest.raises(ValueError, match="region_levels must"):
            made(4, ONE, levels)
    with pytest.raises(NotSupported, match="side of 2\\^h"):
        made(5, ONE, (0,))
    assert psda(Grid(2 * LARGEST_SIDE), ONE) is None
    assert psda(Grid(6), ONE) is None
    assert psda(Grid(4), ZCDP(rho=1)) is None
    assert psda(Grid(2), ONE) == made(2, ONE, (0,))
    own = made(4, ONE, (0, 1))
    with pytest.raises(ValueError, match="no report"):
        own.measurement([0 * collected(own, clustered(), rng.seeded(4))])
