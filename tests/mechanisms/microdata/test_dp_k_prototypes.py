"""`dp_k_prototypes`: one record a row in the rows' order, near the prototypes; what it is refused for."""

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain, read
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.documents.dp_k_prototypes import CARD, DpKPrototypes

COLUMNS = columns([Integer(name="age", bounds=(0, 60)), Categorical(name="work", values=("a", "b", "c"))])
EPSILON = PureDP(epsilon=1)
CODES = np.stack([np.repeat([10, 30, 50], 100), np.repeat([0, 1, 2], 100)]).astype(np.int32)


def test_clear_clusters_come_back_row_by_row():
    method = DpKPrototypes(columns=COLUMNS, loss=PureDP(epsilon=10), clusters=3)
    out = method.release(in_memory(CODES), rng=rng.seeded(1))
    assert out.aligned
    assert out.measurement is None
    np.testing.assert_array_equal(out.codes, CODES)


def test_less_epsilon_is_more_noise():
    errors = []
    for epsilon in ("0.01", "0.1", "1"):
        method = DpKPrototypes(columns=COLUMNS, loss=PureDP(epsilon=epsilon), clusters=3)
        out = method.release(in_memory(CODES), rng=rng.seeded(1)).codes
        errors.append(float(((out[0] - CODES[0]) ** 2).mean()))
    assert errors[0] > 5 * errors[1]
    assert errors[1] > 20 * errors[2]


def test_the_claim_is_published_only():
    unit = Unit(relation=Relation.REPLACE_ONE)
    claim = DpKPrototypes(columns=COLUMNS, loss=EPSILON, unit=unit).claim
    assert (claim.published, claim.proven, claim.unit) == (EPSILON, None, unit)
    assert claim.basis.startswith("no proof: ")


def test_what_it_does_not_serve():
    person = Unit(column="uid", rows=3)
    assert CARD.synthesizer(COLUMNS, EPSILON, ROW, clusters=5, restarts=2).clusters == 5
    with pytest.raises(NotSupported, match="calibrated to epsilon, got rho = 1"):
        CARD.synthesizer(COLUMNS, ZCDP(rho=1), ROW)
    with pytest.raises(NotSupported, match="published for one row a person, got"):
        CARD.synthesizer(COLUMNS, EPSILON, person)
    with pytest.raises(NotSupported, match="calibrated to epsilon, got epsilon = 1, delta = 1e-06"):
        DpKPrototypes(columns=COLUMNS, loss=ApproxDP(epsilon=1, delta=1e-6))
    with pytest.raises(NotSupported, match="published for one row a person, got 3"):
        DpKPrototypes(columns=COLUMNS, loss=EPSILON, unit=person)
    with pytest.raises(ValueError, match="clusters must be an integer >= 1, got clusters=0"):
        DpKPrototypes(columns=COLUMNS, loss=EPSILON, clusters=0)
    with pytest.raises(ValueError, match="restarts must be an integer >= 1, got restarts=0"):
        DpKPrototypes(columns=COLUMNS, loss=EPSILON, restarts=0)
    with pytest.raises(ValueError, match="clusters must be at most the number of rows, got clusters=20"):
        DpKPrototypes(columns=COLUMNS, loss=EPSILON).release(in_memory(CODES[:, :19]), rng=rng.seeded(1))


def test_one_cluster_and_attributes_with_one_value_work():
    single = columns([Integer(name="x", bounds=(3, 3)), Categorical(name="y", values=("only",))])
    method = DpKPrototypes(columns=single, loss=EPSILON, clusters=1)
    assert (
        method.release(in_memory(np.zeros((2, 4), dtype=np.int32)), rng=rng.seeded(1)).codes.tolist() == [[0] * 4] * 2
    )


def test_more_clusters_than_different_records_work():
    method = DpKPrototypes(columns=COLUMNS, loss=PureDP(epsilon=10), clusters=7)
    np.testing.assert_array_equal(method.release(in_memory(CODES), rng=rng.seeded(1)).codes, CODES)


def test_what_came_later_stands_in_a_design_only_where_it_says_something():
    """So that older designs keep their hash; stating the default is refused, as nothing is passed over."""
    made = DpKPrototypes(columns=COLUMNS, loss=EPSILON, clusters=3)
    other = DpKPrototypes(columns=COLUMNS, loss=EPSILON, clusters=3, starts="random", weights="influence")
    for own, names in ((made, set()), (other, {"starts", "weights"})):
        written = plain(own, context=("columns",))
        assert set(written) & {"starts", "weights"} == names
        again = read(object, written, find=lambda _: DpKPrototypes, context={"columns": COLUMNS})
        assert (again.starts, again.weights) == (own.starts, own.weights)
    stated = plain(made, context=("columns",)) | {"starts": "far apart"}
    with pytest.raises(ValueError, match="starts: must be left out where it is 'far apart'"):
        read(object, stated, find=lambda _: DpKPrototypes, context={"columns": COLUMNS})
