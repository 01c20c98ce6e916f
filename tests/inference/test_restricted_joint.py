"""Records of a box: their distribution beside brute force, along chains, hidden axes and rare boxes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.inference.joint.factors import Boxes, Factor, Joint, dense

SHAPE, HIDDEN = (3, 2, 4), (2,)


def chain(seed):
    """A hidden class, an attribute of it, one of that and of the class, one of the first two."""
    even = (rng.seeded(seed).words(200) >> np.uint64(11)) * 2.0**-53

    def table(*sizes):
        values = even[: int(np.prod(sizes))].reshape(sizes) + 0.01
        return values / values.sum(axis=-1, keepdims=True)

    factors = (
        Factor(given=(), targets=(3,), table=table(2)),
        Factor(given=(3,), targets=(0,), table=table(2, 3)),
        Factor(given=(0, 3), targets=(1,), table=table(3, 2, 2)),
        Factor(given=(0, 1), targets=(2,), table=table(3, 2, 4)),
    )
    return Joint(shape=SHAPE, factors=factors, hidden=HIDDEN)


@settings(max_examples=30)
@given(st.integers(0, 50), st.tuples(*(st.lists(st.booleans(), min_size=size, max_size=size) for size in SHAPE)))
def test_the_distribution_of_a_box_is_the_conditional_one(seed, truths):
    joint, weights = chain(seed), [np.array(truth, dtype=float) for truth in truths]
    full = joint.marginal((0, 1, 2)) * np.einsum("i,j,k->ijk", *weights)
    restricted = joint.restricted(weights)
    assert restricted.share == pytest.approx(full.sum(), rel=1e-9)
    if full.sum() > 0:
        assert np.allclose(restricted.joint.marginal((0, 1, 2)), full / full.sum(), rtol=1e-9, atol=1e-15)
        codes = restricted.joint.sample(50, rng=rng.seeded(seed))
        assert all(weights[axis][codes[axis]].all() for axis in range(3))


def test_boxes_have_records_by_their_shares():
    """The number of 4,000 records in the first box is within 6 standard deviations: a false alarm below 1e-8."""
    joint = dense(np.array([[0.1, 0.2], [0.3, 0.4]]))
    boxes = [[np.array([1.0, 0.0]), np.array([1.0, 0.0])], [np.array([0.0, 1.0]), np.array([1.0, 0.0])]]
    codes = Boxes(parts=tuple(map(joint.restricted, boxes))).sample(4000, rng=rng.seeded(3))
    first = int((codes[0] == 0).sum())
    assert abs(first - 1000) < 6 * (4000 * 0.25 * 0.75) ** 0.5
    assert (codes[1] == 0).all()
    assert {*codes[0].tolist()} == {0, 1}


def test_a_box_that_is_as_rare_as_can_be_is_drawn_from_at_once():
    shares = np.full((2,) * 12, 1e-9)
    shares[0] = 1.0
    joint = dense(shares / shares.sum())
    restricted = joint.restricted([np.array([0.0, 1.0])] * 12)
    assert 0 < restricted.share < 1e-11
    assert restricted.joint.sample(20, rng=rng.seeded(1)).min() == 1


def test_a_table_beyond_the_limit_is_refused():
    weights = [np.array([1.0, 0.0, 1.0]), np.ones(2), np.array([1.0, 0.0, 0.0, 0.0])]
    with pytest.raises(NotSupported, match="more than the limit of 5"):
        chain(1).restricted(weights, limit=5)
    assert len(list(itertools.product(*map(range, SHAPE)))) == 24
