"""`spine_marginals`: marginal tables of every region of a tree, level by level, made to agree by least squares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from dpress.core.basics.plain import Find, plain, read
from dpress.core.basics.written_again import difference
from dpress.core.maps.linear import Numbers, Stack
from dpress.core.maps.region_table import RegionTable
from dpress.core.maps.spine import Spine
from dpress.core.methods.mechanism import Card
from dpress.core.methods.table_sums import Rows
from dpress.inference.regions.spine_decoder import SpineDecoder
from dpress.inference.regions.spine_queries import widest
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

Table = tuple[int, ...]
FIELDS = ("shape", "tables", "shares")


@dataclass(frozen=True, kw_only=True)
class SpineMarginals:
    """Tables over some attributes of every region of the levels of a spine.

    Promise: one row is in one cell of every table of every level, so each is a histogram of its own: sensitivity 1
    (add-remove), 2 (replace-one). The shares of the tables add up by basic composition; see `MatrixMechanism`.
    Error: exact for any sum of cells of any union of regions, after least squares over all levels and tables together:
    `inference.regions.variances`.
    Paper: ours, from Abowd et al. 2022 (TopDown: the spine), Hay et al. 2010 (two passes over a tree), Xiao, He, Zhang
    and Kifer 2023 (residual spaces); Cumings-Menon 2024 has the least squares of one space.

    Args:
        spine: the tree of regions; a design carries the attribute that it is of.
        shape: the number of cells of the other attributes.
        tables: for every level, coarse to fine, the attributes of every table that is measured there, () for totals.
        shares: of the loss, level by level, table by table, adding up to 1.
    """

    spine: Spine
    shape: tuple[int, ...]
    tables: tuple[tuple[Table, ...], ...]
    shares: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.tables) != self.spine.depth + 1:
            raise ValueError(f"tables must be stated for {self.spine.depth + 1} levels, got {len(self.tables)}")
        for level, tables in enumerate(self.tables):
            if len(set(tables)) != len(tables) or any(tuple(sorted(set(table))) != table for table in tables):
                raise ValueError(f"level {level}: tables must be different sets of attributes, got {tables}")

    @property
    def map(self) -> Stack[RegionTable]:
        """The tables of all levels, one below the other."""
        return self.decoder.map

    @property
    def decoder(self) -> SpineDecoder:
        """Least squares over all levels and tables together."""
        return SpineDecoder(spine=self.spine, cells=self.shape, levels=self.tables)

    def counted(self, rows: Rows) -> Numbers:
        """Return the exact tables of all levels: the widest of the leaves are counted, the others are their sums."""
        return self.of_leaves(self.leaves(rows))

    def leaves(self, rows: Rows) -> dict[Table, Numbers]:
        """Return the exact counts of the leaves in the widest tables, flat; private."""
        wide = widest(table for tables in self.tables for table in tables)
        sizes = [RegionTable(self.spine, self.shape, self.spine.depth, table).rows for table in wide]
        counts = rows.tables([(0, *(1 + axis for axis in table)) for table in wide])
        return dict(zip(wide, np.split(counts, np.cumsum(sizes)[:-1]), strict=True))

    def of_leaves(self, leaves: Mapping[Table, Numbers]) -> Numbers:
        """Return the tables of all levels, one after the other, from those of `leaves`."""
        return np.concatenate([of_leaves(part, leaves) for part in self.map.parts])

    def as_plain(self) -> dict[str, Any]:
        """Return what a design says of it: all but the spine."""
        return {name: plain(getattr(self, name)) for name in FIELDS}

    @classmethod
    def from_plain(
        cls, value: Mapping[str, Any], place: str, *, find: Find, context: Mapping[str, Any]
    ) -> "SpineMarginals":
        """Return what a design describes; its first attribute has the spine.

        Raises:
            ValueError: a field is missing, unknown, or refused.
        """
        if wrong := difference(dict.fromkeys(value), dict.fromkeys(FIELDS), place):
            raise ValueError(wrong)
        kinds = (tuple[int, ...], tuple[tuple[Table, ...], ...], tuple[Fraction, ...])
        given: dict[str, Any] = {
            name: read(cast("Any", kind), value[name], f"{place}.{name}", find=find)
            for name, kind in zip(FIELDS, kinds, strict=True)
        }
        regions, *others = context["attributes"]
        if tuple(attribute.size for attribute in others) != given["shape"]:
            raise ValueError(f"{place}.shape: not the cells of the attributes beside the regions")
        return cls(spine=regions.spine, **given)


def of_leaves(part: RegionTable, leaves: Mapping[Table, Numbers]) -> Numbers:
    """Return a table of regions, flat, from the first of the leaves' tables that has its attributes."""
    wide = next(table for table in leaves if set(part.axes) <= set(table))
    shape = tuple(part.shape[axis] for axis in wide)
    axes = tuple(wide.index(axis) for axis in part.axes)
    return RegionTable(part.spine, shape, part.level, axes).apply(leaves[wide])


def example(shares: Sequence[str] = ("1/4", "1/4", "1/4", "1/8", "1/8")) -> SpineMarginals:
    """Return a tiny instance: two regions of one and two leaves, two attributes."""
    return SpineMarginals(
        spine=Spine(starts=(np.array([0, 2]), np.array([0, 1, 3]))),
        shape=(2, 2),
        tables=(((0,),), ((), (0, 1)), ((0,), (1,))),
        shares=tuple(map(Fraction, shares)),
    )


CARD = Card(
    name="spine_marginals",
    family="linear",
    model="central",
    paper="regions: marginals over a tree of regions by least squares (ours; after Abowd et al. 2022, Hay et al. 2010)",
    summary="Tables of every region of every level of a tree, made to add up, with the exact error of any union.",
    method=SpineMarginals,
    example=lambda loss, unit: MatrixMechanism(strategy=example(), loss=loss, unit=unit),
)
