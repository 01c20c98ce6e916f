"""`mdav`: groups of k similar records, farthest from the average first, then noise as `dp_k_prototypes` has it.

table -> average -> the farthest record and its k - 1 nearest, then the farthest from that one and its -> ... -> noise
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from dpress.attributes.mixed import Column, example
from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.compiled import compiled
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Card, Synthesizer, SyntheticRecords
from dpress.core.methods.people import Codes, Counts, People
from dpress.mechanisms.microdata.documents import group_records as grouped_noise
from dpress.mechanisms.microdata.prototypes import Labels, Starts, offsets, prototypes

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mdav(Synthesizer):
    """Maximum distance to average vector, groups of k to 2 k - 1 records, released record by record. A baseline.

    Promise: published epsilon; not proven: as for `dp_k_prototypes`, and one record can change every group. Needs the
        whole table at once.
    Error: of a number its distance from its group's mean, and noise of variance 2 (range / (k epsilon))^2.
    Paper: Domingo-Ferrer and Torra 2005 (MDAV, generic); the release after Qu, Cai, Fan and Xia.

    Args:
        columns: of the records; their weights are those of the dissimilarity.
        loss: epsilon.
        unit: one row, under either relation.
        group: k, at least 2; time O(rows^2 / k).
    """

    columns: tuple[Column, ...]
    loss: PureDP
    unit: Unit = ROW
    group: int = 3

    def __post_init__(self) -> None:
        check.count("group", self.group, least=2)
        grouped_noise.check(self.loss, self.unit)

    @property
    def claim(self) -> Claim:
        """The published promise, without a proof."""
        return grouped_noise.claim(self.loss, self.unit)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return one record for every row, in the order of the rows.

        Raises:
            ValueError: there are fewer rows than a group has.
        """
        codes = people.table()
        groups = grouped(self.columns, codes, self.group)
        made = grouped_noise.records(self.columns, codes, groups, epsilon=self.loss.epsilon, rng=rng)
        return SyntheticRecords(codes=made, measurement=None, aligned=True)


@dataclass(slots=True)
class _UngroupedRows:
    """The rows without a group, in any order: their cells, their numbers, and the counts of all cells."""

    cells: Places  # shape (rows, attributes)
    rows: Places
    counts: Counts

    def take(self, places: Places) -> Places:
        """Remove rows by their places here, the last rows into the holes, and return their numbers."""
        taken, size = self.rows[places], len(self.rows) - places.size
        np.subtract.at(self.counts, self.cells[places], 1)
        holes = places[places < size]
        tail = np.setdiff1d(np.arange(size, len(self.rows)), places, assume_unique=True)
        self.cells[holes], self.rows[holes] = self.cells[tail], self.rows[tail]
        self.cells, self.rows = self.cells[:size], self.rows[:size]
        return taken


def grouped(columns: tuple[Column, ...], codes: Codes, size: int) -> Labels:
    """Return the group of every row, shape (rows,): all of `size` rows, the last one of up to 2 size - 1.

    The average has the mean of every number and the category of least total distance. Distances are those of
    `prototypes.Clusters`; of several records that are equally far or near, any.

    Raises:
        ValueError: there are fewer rows than a group has.
    """
    if codes.shape[1] < size:
        raise ValueError(f"group must be at most the number of rows, got group={size}")
    starts = offsets(columns)
    cells = np.ascontiguousarray((codes + starts[:-1, None]).T)
    left = _UngroupedRows(cells, np.arange(len(cells)), np.bincount(cells.ravel(), minlength=starts[-1]))
    of_two, labels, made = _pair_costs(columns, starts), np.zeros(codes.shape[1], dtype=np.int32), 0
    while len(left.rows) >= 3 * size:
        average = prototypes(columns, left.counts[None, :]).costs[:, 0]
        from_average = _summed(left.cells, average)
        first = of_two(left.cells[from_average.argmax()])
        distance = _summed(left.cells, first)
        second = of_two(left.cells[distance.argmax()])
        labels[left.take(_nearest(distance, size))] = made
        labels[left.take(_nearest(_summed(left.cells, second), size))] = made + 1
        made += 2
    if len(left.rows) >= 2 * size:
        average = prototypes(columns, left.counts[None, :]).costs[:, 0]
        far = of_two(left.cells[_summed(left.cells, average).argmax()])
        labels[left.take(_nearest(_summed(left.cells, far), size))] = made
        made += 1
    labels[left.rows] = made
    return labels


def _nearest(distance: Array, size: int) -> Places:
    return np.asarray(np.argpartition(distance, size - 1)[:size])


def _pair_costs(columns: tuple[Column, ...], starts: Starts) -> Callable[[Places], Array]:
    """Return what gives the cost of every cell from one record, by its cells."""
    tables = [
        column.weight * (column.scaled[:, None] - column.scaled) ** 2
        if column.numeric
        else column.weight * column.distance
        for column in columns
    ]

    def costs(record: Places) -> Array:
        codes = record - starts[:-1]
        return np.concatenate([table[:, code] for table, code in zip(tables, codes, strict=True)])

    return costs


def _summed(cells: Places, costs: Array) -> Array:
    out = np.empty(len(cells))
    compiled(sum_costs)(cells, costs, out)
    return out


def sum_costs(cells: Places, costs: Array, out: Array) -> None:
    """Write the sum of the costs of every row's cells. Plain Python that numba compiles."""
    for i in range(cells.shape[0]):
        total = 0.0
        for a in range(cells.shape[1]):
            total += costs[cells[i, a]]
        out[i] = total


def mdav(columns: tuple[Column, ...], loss: PureDP, unit: Unit, *, group: int = 3) -> Mdav:
    """Return the mechanism over these columns; see there for what is refused."""
    return Mdav(columns=columns, loss=loss, unit=unit, group=group)


class Settings(Parameters, frozen=True):
    """The groups."""

    group: Annotated[int, Meta(ge=2, description="records of a group; 3 unless stated")] | None = None


CARD = Card(
    name="mdav",
    family="microdata",
    model="central",
    paper="microdata: Baselines (MDAV of Domingo-Ferrer and Torra 2005)",
    summary="Groups of k similar raw records, then noise a record around its group; not proven, for comparison only.",
    method=Mdav,
    example=lambda loss, unit: Mdav(columns=example(), loss=loss, unit=unit),
    synthesizer=mdav,
    parameters=Settings,
)
