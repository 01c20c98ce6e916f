"""Which tables a specification of histograms or marginals asks for."""

import pytest

from dpress.core.maps.workload import Marginals
from dpress.kinds.tables.design import choose
from dpress.release.plan.plan import plan


def test_a_histogram_is_one_table_and_marginals_are_all_pairs_or_those_that_are_listed(make_spec):
    assert choose(make_spec("histogram", ["age", "size"])).workload == Marginals((10, 4), ((0, 1),))
    assert choose(make_spec("marginals")).workload == Marginals((10, 2, 4), ((0, 1), (0, 2), (1, 2)))
    listed = make_spec("marginals", parameters={"tables": [["size", "age"], ["sex"]]})
    assert choose(listed).workload == Marginals((10, 2, 4), ((2, 0), (1,)))


def test_other_kinds_do_not_take_queries(make_spec):
    with pytest.raises(ValueError, match="unknown parameter 'queries' for kind 'histogram'; known: none"):
        plan(make_spec("histogram", ["age"], parameters={"queries": "all"}))
