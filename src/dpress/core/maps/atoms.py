"""The atoms of a list of predicates: the rows of a table, sorted by which of the predicates hold of them.

predicates, as unions of boxes -> one attribute after the other: which predicates are still open -> atoms.
The cells of the table are never listed, so that a domain may be as large as it likes.
"""

import functools
import itertools
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array
from dpress.core.maps.set_sums import MOST_CELLS, SetSums

LARGEST_AXIS = 1 << 20  # cells of one attribute, of which a vector is held
MOST_BOXES = 256  # of one predicate
Codes = npt.NDArray[np.integer]
Numbers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]  # by kind of code


@dataclass(frozen=True, slots=True)
class Condition:
    """One attribute has one of some codes.

    Args:
        axis: of the attribute.
        runs: first and last code of every run, both included, counted from 0; rising, with a gap between two runs.
    """

    axis: int
    runs: tuple[tuple[int, int], ...]


Box = tuple[Condition, ...]  # all of them hold; axes rising
Predicate = tuple[Box, ...]  # one of them holds
Open = frozenset[Box]  # what is left of a predicate once some attributes are known
HOLDS: Open = frozenset({()})


@dataclass(frozen=True, slots=True)
class Atoms:
    """A partition of all rows: two rows are in one atom if and only if the same predicates hold of both.

    Atoms are numbered from 0 by their answers, those where the first predicate holds before the others, then by the
    second, and so on; an atom where none holds is the last. Every atom has a cell of the table in it.

    Args:
        shape: the number of cells along every axis, each at most 2^20.
        predicates: at least one, each a union of at most 256 boxes.

    Raises:
        ValueError: a condition does not fit the shape, or something is empty.
        NotSupported: they form more than 2^12 atoms, or after some of the attributes more than so many groups.

    >>> young, old = ((Condition(0, ((0, 2),)),),), ((Condition(0, ((2, 3),)),),)
    >>> Atoms((4,), (young, old)).sums
    SetSums(cells=3, sets=((0, 1), (0, 2)))
    """

    shape: tuple[int, ...]
    predicates: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        if not self.shape or not all(1 <= size <= LARGEST_AXIS for size in self.shape):
            raise ValueError(f"shape must be sizes from 1 to {LARGEST_AXIS:,}, got {self.shape}")
        if not self.predicates or not all(1 <= len(boxes) <= MOST_BOXES for boxes in self.predicates):
            raise ValueError(f"predicates must each be 1 to {MOST_BOXES} boxes")
        for box in (box for boxes in self.predicates for box in boxes):
            axes = [condition.axis for condition in box]
            if axes != sorted(set(axes)) or not all(0 <= axis < len(self.shape) for axis in axes):
                raise ValueError(f"a box must have conditions on rising axes below {len(self.shape)}, got {axes}")
            for condition in box:
                _check_runs(condition, self.shape[condition.axis])
        _ = _diagram(self)

    @property
    def size(self) -> int:
        """The number of atoms."""
        return self.sums.cells

    @property
    def sums(self) -> SetSums:
        """The predicates as sums of atoms."""
        return _diagram(self).sums

    def of(self, codes: Codes) -> Numbers:
        """Return the atom of every row, for codes of shape (attributes, rows)."""
        return _diagram(self).of(codes)

    def counts(self, codes: Codes) -> Numbers:
        """Return how many rows are in every atom, shape (atoms,): each row adds 1 to one of them."""
        return np.bincount(self.of(codes), minlength=self.size).astype(np.int64, copy=False)

    def weights(self, predicate: Predicate) -> Array:
        """Return for every atom 1 where a further predicate holds of all its rows, 0 of none, nan where it cuts it."""
        finer = Atoms(self.shape, (*self.predicates, predicate)).sums.matrix
        first = np.flatnonzero(np.append(True, (np.diff(finer[:-1], axis=1) != 0).any(axis=0)))
        last = np.append(first[1:], finer.shape[1]) - 1
        return np.where(finer[-1, first] == finer[-1, last], finer[-1, first], np.nan)


def _check_runs(condition: Condition, size: int) -> None:
    ends = [end for run in condition.runs for end in (run[0], run[1] + 1)]
    if not ends or ends[0] < 0 or ends[-1] > size or any(a >= b for a, b in itertools.pairwise(ends)):
        raise ValueError(f"runs of axis {condition.axis} must be rising, apart, and within 0..{size - 1}")


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """What one attribute decides: (group of rows so far, code) -> group of rows.

    Args:
        axis: of the attribute.
        kinds: for every code its kind; codes of one kind satisfy the same conditions.
        groups: the next group, shape (groups so far, kinds).
    """

    axis: int
    kinds: Numbers
    groups: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class _Diagram:
    """A decision diagram from codes to atoms.

    Args:
        levels: one for every attribute that is asked about.
        atoms: the atom of every last group.
        sums: the predicates as sums of atoms.
    """

    levels: tuple[_Level, ...]
    atoms: Numbers
    sums: SetSums

    def of(self, codes: Codes) -> Numbers:
        """Return the atom of every row."""
        group = np.zeros(codes.shape[1], dtype=np.int64)
        for level in self.levels:
            group = level.groups[group, level.kinds[codes[level.axis]]]
        return self.atoms[group]


@functools.lru_cache(maxsize=32)
def _diagram(atoms: Atoms) -> _Diagram:
    """Return the diagram: groups of rows of which the same boxes of the same predicates are still open."""
    left: list[list[Open]] = [[_reduced(boxes)] for boxes in atoms.predicates]  # what may be left of every predicate
    groups: Numbers = np.zeros((1, len(left)), dtype=np.int64)  # of every group, the number of what is left of each
    levels = []
    for axis in sorted({condition.axis for boxes in atoms.predicates for box in boxes for condition in box}):
        kinds, truths = _kinds(atoms, axis)
        moves = [_moved(opens, axis, truths) for opens in left]
        groups, following = _regrouped(groups, [move for _, move in moves])
        left = [after for after, _ in moves]
        levels.append(_Level(axis=axis, kinds=kinds, groups=following))
    holds = np.array([[left[row][number] == HOLDS for number in numbers] for row, numbers in enumerate(groups.T)])
    order = np.lexsort(~holds[::-1])
    sets = tuple(tuple(np.flatnonzero(column).tolist()) for column in holds[:, order])
    return _Diagram(levels=tuple(levels), atoms=np.argsort(order), sums=SetSums(len(order), sets))


def _reduced(boxes: Sequence[Box]) -> Open:
    """Return what is left of a predicate; where a box has no condition left it holds, whatever the others say."""
    open_boxes = frozenset(boxes)
    return HOLDS if () in open_boxes else open_boxes


def _kinds(atoms: Atoms, axis: int) -> tuple[Numbers, dict[Condition, Truths]]:
    """Return the kind of every code of an attribute, and of every condition which kinds satisfy it.

    All codes between two ends of runs are of one kind; of as many as there are such stretches, few may differ.
    """
    every = (condition for boxes in atoms.predicates for box in boxes for condition in box)
    conditions = list(dict.fromkeys(condition for condition in every if condition.axis == axis))
    ends = [end for condition in conditions for low, high in condition.runs for end in (low, high + 1)]
    edges = np.unique([0, *ends, atoms.shape[axis]])
    columns = [_true_at(condition, edges[:-1]) for condition in conditions]
    truths, kinds = np.unique(columns, axis=1, return_inverse=True)
    return np.repeat(kinds.ravel(), np.diff(edges)), dict(zip(conditions, truths, strict=True))


def _true_at(condition: Condition, codes: Numbers) -> Truths:
    """Return which of some codes satisfy a condition."""
    low, high = np.array(condition.runs).T
    place = np.searchsorted(low, codes, side="right") - 1
    return np.asarray((place >= 0) & (codes <= high[place]))


def _moved(left: list[Open], axis: int, truths: dict[Condition, Truths]) -> tuple[list[Open], Numbers]:
    """Return what may be left of a predicate after one more attribute, and which of it for every kind of code.

    Kinds that satisfy the same of its conditions are looked at once.
    """
    kinds = len(next(iter(truths.values())))
    numbers: dict[Open, int] = {}
    move = np.empty((len(left), kinds), dtype=np.int64)
    for row, boxes in enumerate(left):
        conditions = list({box[0] for box in boxes if box and box[0].axis == axis})
        columns = np.array([truths[condition] for condition in conditions]).reshape(len(conditions), kinds)
        firsts, same = _distinct(columns)
        true = [{condition for condition in conditions if truths[condition][kind]} for kind in firsts.tolist()]
        after = [_after(boxes, conditions_met, axis) for conditions_met in true]
        move[row] = np.array([numbers.setdefault(following, len(numbers)) for following in after])[same]
    return list(numbers), move


def _after(boxes: Open, true: AbstractSet[Condition], axis: int) -> Open:
    """Return what is left of a predicate where these of its conditions on an attribute are true."""
    tested = [(box, bool(box) and box[0].axis == axis) for box in boxes]
    return _reduced([box[first:] for box, first in tested if not first or box[0] in true])


def _distinct(columns: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Return where every distinct column stands first, in that order, and for every column which of them it is."""
    if not len(columns):
        return np.zeros(1, dtype=np.int64), np.zeros(columns.shape[1], dtype=np.int64)
    _, firsts, same = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return firsts[order], np.argsort(order)[same.ravel()]


def _regrouped(groups: Numbers, moves: list[Numbers]) -> tuple[Numbers, Numbers]:
    """Return the groups after one more attribute, and for every group and kind of code the one that follows.

    Only what is still open of a group on this attribute tells its kinds apart.
    """
    numbers: dict[bytes, int] = {}
    kinds = moves[0].shape[1]
    following = np.empty((len(groups), kinds), dtype=np.int64)
    settled = [(move == move[:, :1]).all(axis=1) for move in moves]
    for place, group in enumerate(groups.tolist()):
        after = np.array([move[number, 0] for move, number in zip(moves, group, strict=True)], dtype=np.int64)
        rows = [row for row, number in enumerate(group) if not settled[row][number]]
        moved = np.array([moves[row][group[row]] for row in rows], dtype=np.int64).reshape(len(rows), kinds)
        firsts, same = _distinct(moved)
        reached = []
        for kind in firsts.tolist():
            after[rows] = moved[:, kind]
            reached.append(numbers.setdefault(after.tobytes(), len(numbers)))
        following[place] = np.array(reached)[same]
        if len(numbers) > MOST_CELLS:
            raise NotSupported(f"they cut the rows into more than {MOST_CELLS:,} cells; ask for fewer at a time")
    return np.frombuffer(b"".join(numbers), dtype=np.int64).reshape(len(numbers), -1), following
