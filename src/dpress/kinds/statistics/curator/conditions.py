"""Conditions of shares: boxes of cells, and the words of a query for them."""

from collections.abc import Sequence

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.mechanisms.linear.moment_sums import Condition, MomentSums


def held_by(weights: Sequence[Array]) -> Condition:
    """Return the axes that a box of cells is about, and the cells of each, from 0 or 1 for every cell of every axis."""
    return tuple((axis, tuple(np.flatnonzero(mask).tolist())) for axis, mask in enumerate(weights) if not mask.all())


def within(where: Condition, among: Condition) -> Condition:
    """Return what a condition asks of the rows that others hold for: less cells, and no axis that always matches."""
    inside = dict(among)
    cut = [(axis, _both(cells, inside[axis]) if axis in inside else cells) for axis, cells in where]
    return tuple((axis, cells) for axis, cells in cut if cells != inside.get(axis))


def _both(cells: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """Return the cells that are in both, which rise."""
    return tuple(sorted({*cells} & {*others}))


def share_name(schema: Schema, part: MomentSums) -> str:
    """Return what the share of a condition is called, in the words of a query."""
    among = f" where {condition(schema, part.among)}" if part.among else ""
    return f"share {condition(schema, part.where)}{among}"


def condition(schema: Schema, where: Condition) -> str:
    """Return a condition in the words of a query."""
    return " and ".join(_condition(schema, axis, cells) for axis, cells in where)


def _condition(schema: Schema, axis: int, cells: tuple[int, ...]) -> str:
    attribute, scale = schema.tabular[axis], schema.tabular[axis].scale
    if scale is not None and cells == tuple(range(cells[0], cells[-1] + 1)) and cells[-1] < attribute.ordered:
        low, high = scale.inclusive(*scale.edges_at(np.array([cells[0], cells[-1] + 1])).tolist())
        return f"{attribute.name} in {low}..{high}"
    names = [attribute.labels_between(cell, cell + 1)[0] for cell in cells]
    return f"{attribute.name} = {names[0]}" if len(names) == 1 else f"{attribute.name} in ({', '.join(names)})"
