"""Audit of noisy answers to linear queries: a map as a dense matrix, the noise by the parameters that its sampler uses.

Exactly: the loss of every change that one unit can make. By samples: many disjoint copies of the worst one at once.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpress.audit import sampled as bounds
from dpress.audit.beside import beside
from dpress.audit.checks import claimed_of, exact_check, relation_of, sampled_check
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.verdict import Check, Kind
from dpress.core.basics.claim import Relation
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import LinearMap
from dpress.core.methods.table_sums import Integers
from dpress.mechanisms.linear.copies_audit import of_matrix
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import Noise

MANY = 1 << 24
"""Rows in one cell from which the columns of a map that rounds are read off."""


def exact(made: MatrixMechanism) -> Iterator[Check]:
    """Yield the exact check of the map and its noise, and those of what stands beside the strategy."""
    kind: Kind = "exact matrix" if linear(made.strategy.map) else "rounded matrix"
    claimed = claimed_of(made)
    yield exact_check(kind, _cells(made), relation_of(made.unit), claimed, matrix_loss(made, promised(claimed)))
    if (module := beside(made.strategy)) is not None:
        yield from module.exact(made)


def sampled(made: MatrixMechanism, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled check of the noisy answers."""
    claimed, alpha = claimed_of(made), bounds.ALPHA / len(Relation)
    scores = of_matrix(made, matrix_costs(made), rng=rng)
    low = bounds.SCORES[claimed.form](scores, samples, alpha=alpha)
    yield sampled_check(_cells(made), relation_of(made.unit), claimed, low, samples=samples, alpha=alpha)


def _cells(made: MatrixMechanism) -> str:
    return f"{made.strategy.map.cells} cells"


def matrix_loss(mechanism: MatrixMechanism, bound: Fraction) -> ExactLoss:
    """Return the exact loss of the noise for the worst that one unit can do to the answers.

    Laplace noise costs sum |d_i| / scale_i (the log ratio far out), Gaussian sum d_i^2 / (2 sigma2_i), in mu^2
    sum d_i^2 / `normal_variance`. A replaced row may also fall out of the table. All rows of a unit in one cell are the
    worst, by the triangle inequality.
    """
    costs = matrix_costs(mechanism)
    rounds = "an upper bound; the floating-point error of the transform is not part of it"
    remark = "" if linear(mechanism.strategy.map) else rounds
    return ExactLoss(loss=max(costs), kept=max(costs) <= bound, remark=remark)


def matrix_costs(mechanism: MatrixMechanism) -> list[Fraction]:
    """Return the loss of every change that one unit can make, in the order of `changes`."""
    matrix, rows = mechanism.strategy.map, mechanism.unit.rows
    many = None if linear(matrix) else MANY
    moved = changes(matrix, mechanism.unit.relation, many or 1)
    ends = np.cumsum([part.rows for part in mechanism.parts])[:-1]
    parts = list(zip(mechanism.noises, np.split(moved, ends, axis=1), strict=True))
    return [
        sum(
            (mechanism.loss.cost(noise.spread, _power(noise, block[place], rows, many)) for noise, block in parts),
            Fraction(0),
        )
        for place in range(len(moved))
    ]


def changes(matrix: LinearMap, relation: Relation, many: int = 1) -> Integers:
    """Return what `many` rows that come, or move together, do to the answers; one change a row."""
    columns = np.stack([matrix.apply(many * cell) for cell in np.eye(matrix.cells, dtype=np.int64)])
    if relation is Relation.ADD_REMOVE:
        return columns
    first, second = np.triu_indices(len(columns), 1)
    return np.concatenate([columns, columns[first] - columns[second]])


def linear(matrix: LinearMap) -> bool:
    """Return whether the map of whole numbers is exactly linear: it does not round."""
    table = np.arange(matrix.cells, dtype=np.int64) ** 2 + 3
    cells = np.eye(matrix.cells, dtype=np.int64)
    total = np.sum([count * matrix.apply(cell) for count, cell in zip(table, cells, strict=True)], axis=0)
    return bool(np.array_equal(matrix.apply(table), total))


def _power(noise: Noise, change: Integers, rows: int, many: int | None) -> Fraction:
    """Return the norm of a change of one part to the power of its order, its rounding bounded where `many` is given.

    Of a map that rounds, `change` is that of `many` rows. A row's is then known to within 1 / many (half a step for
    each of two columns), and rounding both neighbours' answers moves each difference by at most a step more.
    """
    order = noise.order
    power = sum(abs(int(number)) ** order for number in change)
    norm_power = Fraction(power * rows**order)
    if many is not None:
        slack = (Fraction(rows, many) + 1) * (len(change) if order == 1 else _root_up(Fraction(len(change))))
        norm = Fraction(power, many) if order == 1 else _root_up(Fraction(power, many**2))
        norm_power = (rows * norm + slack) ** order
    return norm_power


def _root_up(value: Fraction) -> Fraction:
    """Return a rational at or just above the square root."""
    scale = 1 << 64
    return Fraction(math.isqrt(math.ceil(value * scale**2)) + 1, scale)
