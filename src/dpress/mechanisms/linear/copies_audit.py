"""Linear mechanisms, from outside: noisy answers to two neighbouring tables, many in one call.

two tables -> exact answers -> `measure` on many disjoint copies -> the log likelihood ratio of every copy's answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.audit.bounds import Floats
from dpress.audit.outcomes import Scores
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import LinearMap, Numbers, Stack
from dpress.core.methods.mechanism import Decoder
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

COPIES = 1 << 15
ROWS_BEFORE = 10


@dataclass(frozen=True, slots=True)
class Copies(LinearMap):
    """A map on n disjoint copies of its table, side by side: a row changes one copy only, so nothing grows but n."""

    part: LinearMap
    copies: int

    @property
    def cells(self) -> int:
        """The number of columns; the same for all parts of a stack."""
        return self.copies

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.copies * self.part.rows

    @property
    def step(self) -> float:
        """The part's own."""
        return self.part.step

    def apply(self, cells: Numbers) -> Numbers:
        """Refuse: the audit gives the answers of a copy."""
        raise NotSupported(f"copies are measured, not applied to {cells.size} cells")

    def transpose(self, answers: Floats) -> Floats:
        """Refuse."""
        raise NotSupported(f"copies are measured, nothing is estimated from {answers.size} answers")

    def sensitivity(self, order: int, relation: Relation) -> int | Fraction:
        """Return the part's own."""
        return self.part.sensitivity(order, relation)


@dataclass(frozen=True, slots=True)
class _CopiedStrategy:
    """The strategy whose tables are n copies of every part."""

    map: Stack[Copies]
    decoder: Decoder
    shares: tuple[Fraction, ...]


def copied(mechanism: MatrixMechanism, copies: int) -> MatrixMechanism:
    """Return the same mechanism, of the same class, over n disjoint copies of its table: n outputs in one call."""
    parts = Stack(tuple(Copies(part, copies) for part in mechanism.parts))
    return replace(mechanism, strategy=_CopiedStrategy(parts, mechanism.strategy.decoder, mechanism.shares))


def of_matrix(mechanism: MatrixMechanism, costs: Sequence[Fraction], *, rng: Generator) -> Scores:
    """Return the answers to a table and to the neighbour that the noise hides worst, by their likelihood ratio.

    Args:
        mechanism: that measures.
        costs: the loss of every change that one unit can make, see `matrix_mechanism_audit.matrix_costs`.
        rng: a secure generator.
    """
    matrix, unit = mechanism.strategy.map, mechanism.unit
    place = max(range(len(costs)), key=lambda index: costs[index])
    before = np.full(matrix.cells, ROWS_BEFORE, dtype=np.int64)
    tables = [before.copy(), before.copy()]
    if place < matrix.cells:
        tables[1][place] += unit.rows
    else:
        first, second = (int(ends[place - matrix.cells]) for ends in np.triu_indices(matrix.cells, 1))
        tables[0][second] += unit.rows
        tables[1][first] += unit.rows
    answers = [matrix.apply(table).astype(np.int64) for table in tables]
    ends = np.cumsum([part.rows for part in mechanism.parts])[:-1]
    split = [np.split(counts, ends) for counts in answers]

    def block(side: int, size: int) -> Floats:
        counts = np.concatenate([np.tile(cells, size) for cells in split[side]])
        drawn = copied(mechanism, size).measure(counts, rng=rng).answers
        total, start = np.zeros(size), 0
        for noise, zero, changed in zip(mechanism.noises, *split, strict=True):
            copies = drawn[start : start + size * len(zero)].reshape(size, -1)
            start += copies.size
            before_after = (np.abs(copies - counts) ** float(noise.order) for counts in (zero, changed))
            total += np.subtract(*before_after).sum(axis=1) / float(noise.order * noise.spread)
        return total

    def draw(side: int, size: int) -> Floats:
        sizes = [min(COPIES, size - start) for start in range(0, size, COPIES)]
        return np.concatenate([block(side, number) for number in sizes])

    return Scores(draw=draw)
