"""`p_identity`: the figure the literature's optimiser reaches, kept with the release and never searched for again."""

import functools
import zlib

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.parameters import arguments
from dpress.core.maps.ranges import AllRanges, Range, Ranges
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Boxes, Predicates
from dpress.mechanisms.linear import p_identity
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.optimise import optimise
from dpress.mechanisms.linear.p_identity import CARD, PIdentity
from dpress.query.release import FORMAT
from dpress.release.plan.linear_error import mean_variance

EPSILON = PureDP(epsilon=1)


def searched(cells: int, seconds: float = 5) -> PIdentity:
    assert CARD.strategy is not None
    strategy = CARD.strategy(Boxes((AllRanges(cells),)), EPSILON, seconds=seconds)
    assert isinstance(strategy, PIdentity)
    return strategy


def test_its_mean_is_that_of_all_ranges_one_by_one() -> None:
    strategy = searched(12)
    asked = [Range(left, right) for left in range(1, 13) for right in range(left, 13)]
    assert strategy.average_variance([1.0]) == pytest.approx(
        strategy.range_variances(Ranges.of(12, asked), [1.0]).mean()
    )


def test_at_1024_cells_it_beats_the_published_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 60 iterations; to the end of the search it is 3 s more."""
    monkeypatch.setattr(p_identity, "optimise", functools.partial(optimise, iterations=60))
    mechanism = MatrixMechanism(strategy=searched(1024), loss=EPSILON)
    assert mean_variance(mechanism, Boxes((AllRanges(1024),))) <= 124.8
    assert mechanism.claim.proven == EPSILON


def test_answers_are_unbiased_and_as_wrong_as_stated() -> None:
    """6,400 Laplace-like squares: their mean has standard deviation 0.03 at most; six of these, false alarm 1e-8."""
    mechanism = MatrixMechanism(strategy=searched(16), loss=EPSILON)
    decoder, table, generator = mechanism.strategy.decoder, np.arange(16) * 10, rng.seeded(5)
    errors = np.stack([decoder.estimate(mechanism.measure(table, rng=generator))[0] - table for _ in range(400)])
    squares = (errors**2 / decoder.cell_variances(mechanism.variance)[0]).mean()
    assert squares == pytest.approx(1, abs=0.18)
    assert squares * 1.4 != pytest.approx(1, abs=0.18)


def test_it_offers_itself_only_where_a_time_is_stated() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(8),)), EPSILON) is None
    assert CARD.strategy(Boxes((AllRanges(8),)), ZCDP(rho=1), seconds=1) is None
    with pytest.raises(ValueError, match=r"parameters.seconds: expected a number between 0 and 3600, got -1"):
        arguments(CARD.parameters, {"seconds": -1}, "p_identity")


def test_a_release_keeps_the_strategy_and_does_not_search_again(tmp_path, monkeypatch) -> None:
    import pyarrow as pa

    from dpress import load_release, publish
    from dpress.data.specification.spec import from_dict

    age = {"name": "age", "kind": "integer", "bounds": [0, 15]}
    release = {"kind": "ranges", "parameters": {"seconds": 1}}
    spec = from_dict({"attribute": [age], "privacy": {"epsilon": 1}, "release": release})
    made = publish(spec, pa.table({"age": [3] * 500}), out=tmp_path / "release")
    assert made.design.method == "p_identity"
    monkeypatch.setattr(p_identity, "_searched", None)
    again = load_release(tmp_path / "release")
    assert again.query("age in 2..5") == made.query("age in 2..5")
    assert again.manifest()["format"] == FORMAT


@pytest.mark.parametrize(
    "packed",
    [zlib.compress(bytes(1 << 26), 9), zlib.compress(bytes(64)) + b"more", zlib.compress(bytes(64))[:-1], b"nothing"],
)
def test_what_is_packed_is_bounded_before_it_is_unpacked(packed: bytes) -> None:
    with pytest.raises(ValueError, match="packed must hold at most 288 bytes"):
        _ = PIdentity(8, packed).map


def test_numbers_whose_squares_would_not_fit_are_refused() -> None:
    for cells, unit in ((1 << 13, 1 << 20), (8, 1 << 21)):
        with pytest.raises(ValueError, match="must be at most"):
            PIdentity(cells, b"", unit)


def test_for_predicates_it_searches_unasked_and_is_never_worse_than_the_atoms_alone() -> None:
    """In coefficients; the atoms' is the mean size of the sets."""
    assert CARD.strategy is not None
    sets = tuple(tuple(range(first, 40)) for first in range(0, 40, 2))
    workload = Predicates(tuple(map(str, sets)), SetSums(40, sets))
    found = CARD.strategy(workload, EPSILON)
    assert isinstance(found, PIdentity)
    matrix = np.stack([found.map.apply(cell) for cell in np.eye(40)], axis=1) * found.map.step
    exact = np.diag(workload.sums.matrix @ np.linalg.inv(matrix.T @ matrix) @ workload.sums.matrix.T).mean()
    assert exact < 0.6 * np.mean([len(own) for own in sets])
    mechanism = MatrixMechanism(strategy=found, loss=EPSILON)
    assert mean_variance(mechanism, workload) == pytest.approx(exact * mechanism.variance * found.map.step**2)
    assert CARD.strategy(workload, EPSILON) is found  # not searched again
    assert CARD.strategy(workload, ZCDP(rho=1)) is found
    many = SetSums(1025, ((0,),))
    assert CARD.strategy(Predicates(("one",), many), EPSILON) is None


def test_the_covariance_of_many_queries_is_that_of_each() -> None:
    matrix, weights = searched(12).map, np.eye(12)[:5] + 0.5
    each = np.stack([matrix.covariance(one, 2.0) for one in weights])
    assert np.allclose(matrix.covariance(weights, 2.0), each)
