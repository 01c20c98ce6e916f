"""Which pairs of attributes depend on each other significantly, and by how much, in people.

Data flow: contrasts of tallies -> tests of independence, clearest first -> rows of text.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.joint.contrast import Contrast
from dpress.inference.joint.factors import Joint
from dpress.inference.joint.independence_tests import ALPHA, IndependenceTest, chi_square_tests
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import TIMES, number

MOST_ROWS = 45  # of the list: all pairs of ten attributes
SIGNIFICANT, NOT_SIGNIFICANT = "significant", "not distinguishable from independence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two attributes, and what the release says of them beyond their one-way counts.

    Args:
        name: the attributes.
        contrast: the departure from independence, cell by cell, in shares.
        test: of all of them together.
        fitted: the total variation between the fitted table and the product of its own one-way tables.
    """

    name: str
    contrast: Contrast
    test: IndependenceTest
    fitted: float

    @property
    def axes(self) -> Axes:
        """The attributes' places."""
        return self.contrast.axes

    @property
    def line(self) -> str:
        """Whether it is significant, and how far from independence its fitted table is."""
        finding = SIGNIFICANT if self.test.significant else NOT_SIGNIFICANT
        return f"{finding}; {100 * self.fitted:.1f} % would have to change a value to be independent"

    @property
    def excess(self) -> float:
        """How far the statistic lies above its mean under independence, in its standard deviations."""
        return (self.test.statistic - self.test.degrees_of_freedom) / math.sqrt(2 * self.test.degrees_of_freedom)

    @property
    def significant(self) -> Array:
        """Which cells depart from independence significantly: at the level `ALPHA`, corrected for all cells."""
        limit = NormalDist().inv_cdf(1 - ALPHA / self.contrast.residual.size / 2)
        return np.asarray(np.abs(self.contrast.residual) > limit * self.contrast.deviations)


def pairs(contrasts: Sequence[Contrast], fitted: Joint, names: Sequence[str]) -> list[Pair]:
    """Return all pairs that can depend, the one with the clearest departure first.

    Args:
        contrasts: of every pair, from the tallies.
        fitted: the joint distribution.
        names: of its attributes, for people.
    """
    listed = [
        Pair(
            name=TIMES.join(names[axis] for axis in contrast.axes),
            contrast=contrast,
            test=test,
            fitted=departure(fitted.marginal(contrast.axes)),
        )
        for contrast, test in zip(contrasts, chi_square_tests(contrasts), strict=True)
    ]
    return sorted(listed, key=lambda pair: -pair.excess)


def departure(table: Array) -> float:
    """Return the total variation between a table of shares and the product of its one-way tables.

    >>> departure(np.eye(2) / 2)
    0.5
    """
    product = np.multiply.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.abs(table - product).sum() / 2)


def listing(pairs: list[Pair]) -> Table:
    """Return the pairs as a table."""
    names = ("pair", "finding", "χ² per degree of freedom", "p-value", "in the fitted joint")
    return Table(caption="Pairs of attributes", names=names, labels=2, rows=tuple(map(_row, pairs[:MOST_ROWS])))


def _row(pair: Pair) -> tuple[str, ...]:
    finding = SIGNIFICANT if pair.test.significant else NOT_SIGNIFICANT
    ratio = pair.test.statistic / pair.test.degrees_of_freedom
    times = number(ratio, 0.1) if ratio < 100 else number(ratio)
    return pair.name, finding, times, _p_value(pair.test.p_value), f"{100 * pair.fitted:.1f} %"


def _p_value(value: float) -> str:
    """Return a p-value in percent, rounded up."""
    if value < 1e-4:
        return "below 0.01 %"
    unit = 0.01 if value < 0.01 else 1
    return f"{number(math.ceil(100 * value / unit - 1e-9) * unit, unit)} %"
