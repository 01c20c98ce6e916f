"""Unbiased tables from bits: mean and variance exactly, from the channels of tiny reports."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.reports.oracle import Channel
from dpress.mechanisms.joint.bit_joint import BitJoint
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.rappor import Rappor

RATES = {"f": Fraction(1, 4), "p": Fraction(1, 4), "q": Fraction(3, 4)}
SKEWED = {"f": Fraction(1, 8), "p": Fraction(1, 50), "q": Fraction(1, 2)}  # h > (n + 1) o


def one_hot(*sizes: int, **rates: Fraction) -> BitJoint:
    return BitJoint(oracles=(RrLdp(sizes=sizes, **(rates or RATES)),))


def filters(*sizes: int, bits: int = 5, hashes: int = 2, name: str = "", **rates: Fraction) -> BitJoint:
    names = [tuple(f"{name}{axis} {value}" for value in range(size)) for axis, size in enumerate(sizes)]
    return BitJoint(
        oracles=tuple(Rappor(candidates=own, bits=bits, hashes=hashes, cohorts=1, **rates or RATES) for own in names)
    )


CASES = {
    "two": one_hot(2, 3),
    "three": one_hot(2, 3, 1),
    "binary": one_hot(2, 2, 2),
    "skewed": one_hot(2, 3, **SKEWED),
    "filters": filters(2, 3),
    "filters alike": filters(2, 3, name="b", **SKEWED),  # their values' counts are correlated
    "one hash": filters(2, 3, hashes=1, name="v"),
}


def channel(estimator: BitJoint) -> Channel:
    """The channel of one report about all attributes, a row for every record."""
    first = estimator.oracle
    if isinstance(first, RrLdp):
        return first.channel()
    parts = [one.channel() for one in estimator.oracles]
    payloads = [np.concatenate(rows) for rows in itertools.product(*(part.payloads for part in parts))]
    rows = [
        tuple(np.outer(*chosen).ravel().tolist())
        for chosen in itertools.product(*(np.array(part.probabilities, dtype=float) for part in parts))
    ]
    return Channel(payloads=np.array(payloads), probabilities=tuple(rows))


def scores(estimator: BitJoint) -> tuple[np.ndarray, np.ndarray]:
    """The channel's rows, and what one report alone adds to every cell of every table."""
    found = channel(estimator)
    own = [estimator.measurement([estimator.tally(estimator.types[0], row[None])]).answers for row in found.payloads]
    return np.array(found.probabilities, dtype=float), np.array(own)


def indicators(estimator: BitJoint) -> np.ndarray:
    """For every record which cells of every table it lies in."""
    records = np.indices(estimator.shape).reshape(len(estimator.shape), -1)
    out = []
    for axes in estimator.tables:
        sizes = tuple(estimator.shape[axis] for axis in axes)
        cells = np.ravel_multi_index([records[axis] for axis in axes], sizes)
        out.append(np.eye(int(np.prod(sizes)))[cells])
    return np.concatenate(out, axis=1)


@pytest.mark.parametrize("name", CASES)
def test_mean_and_variance_are_those_of_the_channel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, over all reports of every record: no sampling."""
    estimator = CASES[name]
    rows, own = scores(estimator)
    means, held = rows @ own, indicators(estimator)
    assert np.allclose(means, held)  # every user adds one to their own cells
    assert not np.allclose(means * 1.05, held)
    exact = rows @ own**2 - means**2
    for record, cells in enumerate(held):
        true = np.split(cells, np.cumsum(sizes(estimator))[:-1])
        with monkeypatch.context() as change:  # the estimate is the truth
            tables = dict(zip(estimator.tables, true, strict=True))
            change.setattr(BitJoint, "_counts", functools.partialmethod(known, tables))
            stated = np.asarray(estimator.measurement([np.ones(1, dtype=np.int64)]).variance)
        assert np.allclose(stated, exact[record])
        assert not np.allclose(stated * 1.05, exact[record])


def known(
    estimator: BitJoint, tables: dict[tuple[int, ...], np.ndarray], _: object, axes: tuple[int, ...]
) -> np.ndarray:
    """The table as given, whatever the reports say."""
    return tables[axes].reshape([estimator.shape[axis] for axis in axes])


def sizes(estimator: BitJoint) -> list[int]:
    return [int(np.prod([estimator.shape[axis] for axis in axes])) for axes in estimator.tables]


@pytest.mark.parametrize("name", CASES)
def test_no_query_varies_more_than_its_cells_inflated(name: str) -> None:
    """Every product of sets of values, of every table, for every record."""
    estimator = CASES[name]
    rows, own = scores(estimator)
    exact = rows @ own**2 - (rows @ own) ** 2
    starts, ratios = np.cumsum([0, *sizes(estimator)]), []
    for number, axes in enumerate(estimator.tables):
        part = slice(starts[number], starts[number + 1])
        for box in itertools.product(*(subsets(estimator.shape[axis]) for axis in axes)):
            query = np.ones(1)
            for weights in box:
                query = np.multiply.outer(query, weights).ravel()
            answers = own[:, part] @ query
            variance = rows @ answers**2 - (rows @ answers) ** 2
            bound = exact[:, part] @ query**2
            ratios.append((variance - bound * estimator.inflation[number]).max())
    assert max(ratios) < 1e-9
    assert (max(estimator.inflation) > 1 + 1e-9) == (name == "filters alike")


def subsets(size: int) -> list[np.ndarray]:
    return [np.array(bits, dtype=float) for bits in itertools.product((0, 1), repeat=size) if any(bits)]


@pytest.mark.parametrize("name", CASES)
def test_the_planned_variance_is_the_mean_over_the_pairs(name: str) -> None:
    estimator = CASES[name]
    rows, own = scores(estimator)
    variances = rows @ own**2 - (rows @ own) ** 2
    pairs = sum(size for size, axes in zip(sizes(estimator), estimator.tables, strict=True) if len(axes) == 2)
    assert estimator.mean_variance(600) == pytest.approx(600 * variances[:, :pairs].mean())


def test_all_sets_up_to_five_attributes_and_pairs_beyond() -> None:
    assert [len(one_hot(*(2,) * d).tables) for d in (2, 3, 4, 5, 6)] == [1, 4, 11, 26, 15]
    assert len(one_hot(101, 101, 101).tables) == 3
    assert len(filters(2, 2, 2, bits=128).tables) == 3


@pytest.mark.parametrize("estimator", [one_hot(2, 3, 2), filters(2, 3, 2)], ids=["one-hot", "filters"])
def test_reports_add_up_and_the_fit_is_a_distribution(estimator: BitJoint) -> None:
    codes = np.array([np.arange(60) % 2, np.arange(60) % 3, np.arange(60) % 2], dtype=np.int32)
    payloads = estimator.types[0].perturb(codes, rng=rng.seeded(2))
    tally = estimator.tally(estimator.types[0], payloads)
    single = sum(estimator.measurement([estimator.tally(estimator.types[0], own[None])]).answers for own in payloads)
    assert np.allclose(estimator.measurement([tally]).answers, single)
    table = estimator.fit([tally], lambda kernel: map(kernel, [[payloads[:7]], [payloads[7:]]])).marginal((0, 1))
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)


@pytest.mark.parametrize("estimator", [one_hot(2, 3, 2), filters(2, 3, 2)], ids=["one-hot", "filters"])
def test_a_pair_is_the_same_by_either_tally(estimator: BitJoint, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.array([np.arange(60) % 2, np.arange(60) % 3, np.arange(60) % 2], dtype=np.int32)
    payloads = estimator.types[0].perturb(codes, rng=rng.seeded(2))

    def found() -> tuple[list[np.ndarray], list[np.ndarray]]:
        tally = [estimator.tally(estimator.types[0], payloads)]
        contrasts = estimator.contrasts(tally)
        tables = estimator.decoder(60).estimate(estimator.measurement(tally))
        return list(tables[:3]), [part for one in contrasts for part in (one.residual, one.deviations)]

    first = found()
    monkeypatch.setattr("dpress.mechanisms.protocol.bit_tally.MOST_CROSSED", 2)
    assert not estimator.bits.crossed
    for ours, theirs in zip(first, found(), strict=True):
        assert all(np.allclose(a, b) for a, b in zip(ours, theirs, strict=True))


def test_no_report_is_refused() -> None:
    own = CASES["two"]
    with pytest.raises(ValueError, match="no report is about"):
        own.measurement([own.tally(own.types[0], own.types[0].nothing)])
