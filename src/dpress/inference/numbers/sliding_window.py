"""Levels seen through a window that slides with them: expected reports, and the distribution that is likeliest.

A level is reported as any output of its window with probability p each, or as any other output with probability q each.
An EM step is two sums over windows, each the difference of cumulative sums. Between steps neighbours are evened out a
little (EMS, Silverman et al. 1990; Li et al. 2020 for these reports), unless the reports contradict that.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.basics.compiled import compiled
from dpress.core.maps.linear import Array, LinearMap, Numbers
from dpress.inference.numbers.report_sums import Scores

GAIN = 3e-3  # of the log-likelihood of all reports in one step: below it the steps end (Li et al. 2020, epsilon 1)
STEPS = 5000
HIDDEN = 0.1  # sine below which a window hides the double angle: one of nearly half the circle, epsilon below 0.2
EVENED = 0.1  # of a share that goes to the neighbours' mean in a step


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindow(LinearMap):
    """The expected reports of every output, were these the counts of the levels: A = q + (p - q) [within the window].

    Args:
        levels: of the number.
        groups: each with a row of levels + window - 1 outputs.
        window: in outputs.
        near: p.
        far: q, at most p.
        circular: the levels lie on a circle: a row has as many outputs as levels, and windows go on round it.
    """

    levels: int
    groups: int
    window: int
    near: Fraction
    far: Fraction
    circular: bool = False

    @property
    def cells(self) -> int:
        """The number of levels of all groups."""
        return self.groups * self.levels

    @property
    def row(self) -> int:
        """The outputs of one group."""
        return self.levels if self.circular else self.levels + self.window - 1

    @property
    def rows(self) -> int:
        """The number of outputs."""
        return self.groups * self.row

    @property
    def scores(self) -> Scores:
        """The scores whose sums are unbiased, those of levels from the middle, and of their products.

        An output y from the middle adds y^k less what its window adds on average, over w a: 1, y, y^2 - m2, y^3 - 3 m2
        y and y^4 - 6 m2 (y^2 - m2) - m4 for the powers of a level, m2 = (w^2 - 1) / 12 and m4 = (w^2 - 1)(3 w^2 - 7) /
        240 the moments of a window, a = p - q; apart from that q of all others' reports are on every output. On a
        circle the sums are those of cos(2 pi level / levels) and of the sine: an output's angle, from the middle of its
        window, over a times sin(pi w / levels) / sin(pi / levels), what the cosines of a window add up to; of the
        products likewise for twice the angle, but at most one user a report (what the window hides is not divided by).
        """
        return self._circular_scores if self.circular else self._linear_scores

    @property
    def _linear_scores(self) -> Scores:
        q, w = float(self.far), self.window
        place = np.arange(self.row) - (self.row - 1) / 2
        m2, m4 = (w**2 - 1) / 12, (w**2 - 1) * (3 * w**2 - 7) / 240
        square = place**2 - m2
        powers = np.stack(
            [np.ones(self.row), place, square, place**3 - 3 * m2 * place, place**4 - 6 * m2 * square - m4]
        ) / (w * float(self.near - self.far))
        apart, degrees = q * powers.sum(axis=1) * np.array([1, 0, 1, 0, 1.0]), np.add.outer(np.arange(3), np.arange(3))
        return Scores(rows=powers[:3], apart=apart[:3], products=powers[degrees], apart_products=apart[degrees])

    @property
    def _circular_scores(self) -> Scores:
        a, each = float(self.near - self.far), self.window * float(self.near - self.far)
        users, apart = np.full(self.row, 1 / each), float(self.far) * self.row / each
        once, twice = (np.sin(np.pi * times * self.window / self.levels) for times in (1, 2))
        angle = 2 * np.pi * (np.arange(self.row) - (self.window - 1) / 2) / self.levels
        cos, sin = np.stack([np.cos(angle), np.sin(angle)]) * np.sin(np.pi / self.levels) / (a * once)
        rows, of_rows = np.stack([users, cos, sin]), np.array([apart, 0.0, 0.0])
        if abs(twice) < HIDDEN:
            return Scores(rows=rows, apart=of_rows)
        cos2, sin2 = np.stack([np.cos(2 * angle), np.sin(2 * angle)]) * np.sin(2 * np.pi / self.levels) / (a * twice)
        products = [[users, cos, sin], [cos, (users + cos2) / 2, sin2 / 2], [sin, sin2 / 2, (users - cos2) / 2]]
        of_products = np.diag([apart, apart / 2, apart / 2])
        return Scores(rows=rows, apart=of_rows, products=np.array(products), apart_products=of_products)

    def apply(self, cells: Numbers) -> Array:
        """Return the expected reports, shape (outputs,), for counts of all groups' levels."""
        table = np.asarray(cells, dtype=np.float64).reshape(self.groups, self.levels)
        return self.seen(table).ravel()

    def transpose(self, answers: Array) -> Array:
        """Return what the answers of a level's reports add up to, on average."""
        return self.back(np.asarray(answers, dtype=np.float64).reshape(self.groups, self.row)).ravel()

    def sensitivity(self, order: int, relation: Relation) -> Fraction:
        """Return the sum of |change|^order for one user; for one who moves, with windows as far apart as can be."""
        far = self.rows - self.window
        if relation is Relation.ADD_REMOVE:
            return self.window * self.near**order + far * self.far**order
        return 2 * min(self.window, far) * (self.near - self.far) ** order

    def seen(self, table: Array) -> Array:
        """Return the expected reports for tables of shape (..., groups, levels), shape (..., groups, row)."""
        p, q = float(self.near), float(self.far)
        if self.circular:
            sums = _cumulative(np.concatenate([table[..., self.levels - self.window + 1 :], table], axis=-1))
            near = np.maximum(sums[..., self.window :] - sums[..., : self.levels], 0.0)
            return np.asarray(q * table.sum(axis=(-2, -1), keepdims=True) + (p - q) * near)
        sums = _cumulative(table)
        last = np.minimum(np.arange(1, self.row + 1), self.levels)
        first = np.maximum(np.arange(self.row) - self.window + 1, 0)
        near = np.maximum(sums[..., last] - sums[..., first], 0.0)
        return np.asarray(q * table.sum(axis=(-2, -1), keepdims=True) + (p - q) * near)

    def back(self, answers: Array) -> Array:
        """Return A^T y for answers of shape (..., groups, row), shape (..., groups, levels)."""
        p, q = float(self.near), float(self.far)
        round_ = answers[..., : self.window - 1 if self.circular else 0]
        sums, first = _cumulative(np.concatenate([answers, round_], axis=-1)), np.arange(self.levels)
        near = sums[..., first + self.window] - sums[..., first]
        return np.asarray(q * answers.sum(axis=(-2, -1), keepdims=True) + (p - q) * near)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Distributions that were fitted to reports.

    Args:
        shares: of all groups' levels, adding up to 1, shape (fits, groups, levels).
        log_likelihood: of all reports, up to a constant of them, shape (fits,).
    """

    shares: Array
    log_likelihood: Array


def fitted(window: SlidingWindow, reports: npt.NDArray[np.generic], *, evened: float) -> Fit:
    """Return for every set of reports the shares of all levels that EM ends with, from even ones.

    Memory: two arrays as large as the reports.

    Args:
        window: what reports are expected of which counts.
        reports: how often every output was reported, shape (fits, groups, row), each with one at least.
        evened: what part of a level's share goes to the mean of its two neighbours after every step; 0 for EM itself.
    """
    shares = np.empty((len(reports), window.groups, window.levels))
    reached, ends = np.empty(len(reports)), np.array([GAIN, STEPS])
    odds = np.array([float(window.near), float(window.far), window.window, window.circular])
    for place, counts in enumerate(np.ascontiguousarray(reports, dtype=np.float64)):
        reached[place] = compiled(ascend)(counts, shares[place], odds, evened, ends)
    return Fit(shares=shares, log_likelihood=reached)


def ascend(  # noqa: C901  # one function, so that numba compiles it whole
    reports: Array, table: Array, odds: Array, evened: float, ends: Array
) -> float:
    """Write the shares where EM's steps end into `table`, return the log-likelihood. Plain Python that numba compiles.

    Args:
        reports: shape (groups, row).
        table: shape (groups, levels).
        odds: p, q, the window, and 1 where it goes round a circle, else 0.
        evened: as in `fitted`.
        ends: the gain of a step below which the steps end, and the most steps.
    """
    groups, levels = table.shape
    row, p, q = reports.shape[1], odds[0], odds[1]
    width = int(odds[2])
    circular = odds[3] > 0
    users, reached = reports.sum(), -np.inf
    weights = np.empty((groups, row))
    table[:] = 1 / (groups * levels)
    for _ in range(int(ends[1])):
        gained, total = 0.0, 0.0
        for group in range(groups):
            near = table[group, levels - width :].sum() if circular else 0.0
            for y in range(row):
                if y < levels:
                    near += table[group, y]
                if y >= width or circular:
                    near -= table[group, (y - width) % levels]
                expected = q + (p - q) * max(near, 0.0)
                weights[group, y] = reports[group, y] / (users * expected)
                total += weights[group, y]
                if reports[group, y] > 0:
                    gained += reports[group, y] * np.log(expected)
        if gained - reached < ends[0]:
            return gained
        reached = gained
        for group in range(groups):
            near = weights[group, : width - 1].sum()
            for level in range(levels):
                near += weights[group, (level + width - 1) % row]
                table[group, level] *= q * total + (p - q) * near
                near -= weights[group, level]
            first = table[group, 0]
            before = table[group, levels - 1] if circular else first
            for level in range(levels if evened > 0 else 0):
                share = table[group, level]
                after = table[group, level + 1] if level + 1 < levels else first if circular else share
                table[group, level] = (1 - evened / 2) * share + evened / 4 * (before + after)
                before = share
        table /= table.sum()
    return reached


def _cumulative(values: Array) -> Array:
    """Return the sums of the first 0, 1, ... values along the last axis."""
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), values.cumsum(axis=-1)], axis=-1)
