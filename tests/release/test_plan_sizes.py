"""Plans of many tables, quantiles and overlapping queries: how much is done is counted, never timed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.claim import ROW, Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps import atoms
from dpress.core.maps.grid import Grid
from dpress.core.maps.workload import Marginals as Workload
from dpress.inference import consistency
from dpress.inference.lower_bound import lower_bound
from dpress.kinds.statistics.curator import estimates
from dpress.mechanisms.spatial.adaptive_grid import adaptive_grid
from dpress.mechanisms.spatial.central_map import fourth_root, precision
from dpress.query.boxes import predicate
from dpress.release.plan.linear_error import mean_variance
from dpress.release.plan.plan import plan


def spec(sizes, kind, parameters, **privacy):
    columns = [{"name": f"a{place}", "kind": "integer", "bounds": [0, size - 1]} for place, size in enumerate(sizes)]
    return {
        "attribute": columns,
        "privacy": privacy or {"epsilon": 1},
        "release": {"kind": kind, "parameters": parameters},
    }


def test_the_variance_of_every_table_is_found_in_one_pass_over_the_tables(monkeypatch):
    calls, before = [], consistency._summed_variance
    monkeypatch.setattr(consistency, "_summed_variance", lambda *own: calls.append(1) or before(*own))
    asked = spec([3] * 100, "marginals", {"ways": 1})
    planned = plan(asked | {"release": asked["release"] | {"method": "marginals"}})
    assert planned.chosen.method == "marginals"
    assert len(calls) <= 3 * 2 * 100  # the total and the table, of each table, for a few plans of it
    calls.clear()
    decoder = planned.chosen.mechanism.decoder
    weights = [[np.eye(1, 3)[0] if axis == one else np.ones(3) for axis in range(100)] for one in range(100)]
    each = [decoder.query_variance(planned.chosen.mechanism.variance, own) for own in weights]
    assert len(calls) > 100**2  # one query after the other, the planted fault
    assert mean_variance(planned.chosen.mechanism, planned.workload) == pytest.approx(np.mean(each), rel=1e-12)


@pytest.mark.parametrize("privacy", [{"epsilon": 1}, {"rho": 0.5}])
def test_cells_of_tables_have_the_variance_of_the_query_for_one(privacy):
    planned = plan(
        spec([2, 3, 4, 1, 5], "marginals", {"tables": [["a0", "a1"], ["a4", "a1"], ["a3"], ["a2"]]}, **privacy)
    )
    for candidate in planned.candidates:
        decoder, variance = candidate.mechanism.decoder, candidate.mechanism.variance
        for axes, cells in zip(decoder.tables, decoder.cell_variances(variance), strict=True):
            first = [np.eye(1, n)[0] if axis in axes else np.ones(n) for axis, n in enumerate((2, 3, 4, 1, 5))]
            assert np.all(cells == pytest.approx(decoder.query_variance(variance, first), rel=1e-12))


def test_the_bound_of_very_many_tables_is_in_closed_form():
    many = Workload((10,) * 842, tuple((axis,) for axis in range(842)))
    share = Fraction(1, 10)  # of a table: the common total has 842 / 10, every other component 1 / 10
    exact = (math.sqrt(842 * share) + 842 * 9 * math.sqrt(share)) ** 2 / 8420
    assert lower_bound(many, Relation.ADD_REMOVE) == pytest.approx(exact, rel=1e-12)
    assert lower_bound(many, Relation.REPLACE_ONE) == pytest.approx(2 * (842 * 9) ** 2 * share / 8420, rel=1e-12)


def test_variances_of_a_tree_are_found_once_for_all_quantiles(monkeypatch):
    calls, before = [], estimates.prefixes
    monkeypatch.setattr(estimates, "prefixes", lambda *own: calls.append(1) or before(*own))
    estimates.prefix_variances.cache_clear()
    shares = [round((place + 1) / 301, 6) for place in range(300)]
    planned = plan(spec([1000], "statistics", {"quantiles": {"a0": shares}}))
    from dpress.kinds.statistics.plan_text import expected_errors  # after the patch

    assert len(expected_errors(planned, planned.chosen)) == 301
    assert len(calls) <= 1
    assert estimates.prefix_variances.cache_info().misses <= 4


def test_more_quantiles_than_can_be_looked_at_are_refused_with_their_number():
    shares = [round((place + 1) / 201, 6) for place in range(200)]
    wide = spec([1 << 20], "statistics", {"quantiles": {"a0": shares}})
    wide["attribute"][0]["bins"] = 1 << 20
    with pytest.raises(
        NotSupported, match=r"200 quantiles of a0 .*1,048,576 cells are 209,715,200 forms, more than 2\^27"
    ):
        plan(wide)


def test_kinds_of_codes_that_no_open_query_tells_apart_are_not_looked_at(monkeypatch):
    looked, before = [], atoms._distinct
    monkeypatch.setattr(atoms, "_distinct", lambda columns: looked.append(columns.size) or before(columns))
    number = 60
    texts = [f"a0 = {place} and a1 < {place} and a2 > {place}" for place in range(1, number)]
    planned = plan(spec([100] * 3, "queries", {"queries": texts}))
    assert planned.workload.sums.rows == number - 1
    every = sum(number * number * (number - 1) for _ in range(3))  # groups x kinds x queries, attribute by attribute
    assert sum(looked) < every / 5


def test_more_conditions_than_may_meet_are_refused_with_their_number():
    either = "(" + " or ".join(f"a0 = {3 * place}" for place in range(250)) + ")"
    with pytest.raises(NotSupported, match="queries: 50,000 conditions in all, more than 16,384"):
        plan(spec([1000], "queries", {"queries": [" and ".join([either] * 20)] * 10}))
    with pytest.raises(ValueError, match="a query of 50,000 conditions is too long"):
        predicate(Schema((Integer(name="a0", bounds=(0, 999)),)), " and ".join([either] * 200))


def test_atoms_are_numbered_as_they_were_by_looking_at_every_kind():
    ranges = [((low, high),) for low, high in itertools.combinations(range(6), 2)]
    boxes = [
        ((atoms.Condition(0, one), atoms.Condition(1, other)),) for one, other in zip(ranges, ranges[::-1], strict=True)
    ]
    own = atoms.Atoms((6, 6), tuple((*box, (atoms.Condition(1, ((0, 1),)),)) for box in boxes))
    codes = np.array(list(itertools.product(range(6), range(6)))).T
    holds = np.array([[any(all(any(a <= codes[c.axis][i] <= b for a, b in c.runs) for c in box) for box in one)
                       for i in range(36)] for one in own.predicates])  # fmt: skip
    assert np.array_equal(own.sums.matrix[:, own.of(codes)] > 0, holds)


def test_grids_of_too_many_attributes_are_refused_at_once():
    with pytest.raises(NotSupported, match="51 attributes have 1,275 pairs, at most 1,225 are asked for"):
        plan(spec((8,) * 51, "ranges", {}, model="local", epsilon=1))


def test_roots_of_blocks_are_looked_up_as_they_are_computed():
    made = adaptive_grid(Grid(64), PureDP(epsilon="0.37"), unit=ROW, users=5000)
    counts = np.concatenate([np.arange(-3, 2000), 977 * np.arange(300) + 10**6])
    fineness = precision(made.noises[1]) / made.per_tile**2
    roots = [fourth_root(max(int(count), 0) ** 2 * fineness) for count in counts]
    assert made.parts(counts).tolist() == roots
