"""`prefix`: running totals, whose ranges cost the same however long they are."""

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.ranges import Range, Ranges
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.prefix import Prefix


@pytest.mark.parametrize("cells", [1, 2, 3, 8, 13])
def test_coefficients_are_those_of_the_least_squares_covariance(cells: int) -> None:
    strategy = Prefix(cells)
    asked = [Range(left, right) for left in range(1, cells + 1) for right in range(left, cells + 1)]
    by_algebra = [strategy.decoder.query_variance(1.0, [one.weights(cells)]) for one in asked]
    assert by_algebra == pytest.approx(strategy.range_variances(Ranges.of(cells, asked), [1.0]))
    assert strategy.average_variance([1.0]) == pytest.approx(np.mean(by_algebra))


def test_noise_pays_for_every_total_a_row_counts_in() -> None:
    mechanism = MatrixMechanism(strategy=Prefix(10), loss=PureDP(epsilon=2))
    assert [noise.scale for noise in mechanism.noises] == [5]
