"""Whole numbers near the fitted tables of a parent's children: the parent's counts and the children's totals hold.

Loops that numba compiles. Cost: the squared deviations of all cells and of the coarser tables of every child. First
every cell's lacking persons go where they cost least, then persons move until the totals hold, then two children
exchange persons between two cells, which changes neither, while that lowers the cost. Ties go to the first.
"""

from typing import Any, NamedTuple

import numpy as np

from dpress.core.basics.compiled import compiled

SWEEPS = 10
SAME = 1e-9  # a count that lacks less of a whole number is that number


class Rounding(NamedTuple):
    """A parent's children while they are rounded.

    Args:
        whole: the result, shape (children, cells).
        off: before, what they shall be near, >= 0; after, how far they are above that; shape (children, cells).
        excess: how far the coarser tables are above what they shall be, one after the other, the total first; before,
            as if nobody were there; shape (children, columns).
        strength: what a child's cost counts, shape (children,).
        column: the parent's counts, shape (cells,), whole numbers that add up to the children's totals.
        places: the column of every cell in each coarser table, shape (tables, cells).
        neighbours: for every cell those with which it may exchange persons, then -1, shape (cells, most).
    """

    whole: Any
    off: Any
    excess: Any
    strength: Any
    column: Any
    places: Any
    neighbours: Any


def _change(state: Any, child: int, cell: int, sign: int) -> None:
    """Change a child's cell by sign, and its deviations."""
    state.whole[child, cell] += sign
    state.off[child, cell] += sign
    for table in range(state.places.shape[0]):
        state.excess[child, state.places[table, cell]] += sign


def _added(state: Any, child: int, cell: int, sign: int) -> Any:
    """Return the change of a child's cost when a cell changes by sign: each square by 2 sign deviation + 1."""
    cost = 2 * sign * state.off[child, cell] + 1
    for table in range(state.places.shape[0]):
        cost += 2 * sign * state.excess[child, state.places[table, cell]] + 1
    return cost * state.strength[child]


def _costs(state: Any, cell: int, other: int, out: Any) -> Any:
    """Write what it costs that a person moves from a cell to another in each child; return the least."""
    least = np.inf
    for child in range(state.whole.shape[0]):
        cost = np.inf
        if state.whole[child, cell] > 0:
            cost = 2 * (state.off[child, other] - state.off[child, cell]) + 2
            for table in range(1, state.places.shape[0]):
                here, there = state.places[table, cell], state.places[table, other]
                if here != there:
                    cost += 2 * (state.excess[child, there] - state.excess[child, here]) + 2
            cost *= state.strength[child]
        out[child] = cost
        least = min(least, cost)
    return least


def _cheapest(costs: Any, most: float) -> Any:
    """Return the children whose cost is at most that, the cheapest first."""
    children = np.flatnonzero(costs <= most)
    return children[np.argsort(costs[children], kind="mergesort")]


change, added, write_costs, cheapest = compiled(_change), compiled(_added), compiled(_costs), compiled(_cheapest)


def _fill(state: Any) -> None:
    """Round down, then give every cell's lacking persons to the children whom they cost least."""
    children, cells = state.whole.shape
    costs = np.empty(children)
    for cell in range(cells):
        total = state.off[:, cell].sum()
        for child in range(children):
            near = state.off[child, cell] * state.column[cell] / total if total > 0 else state.column[cell] / children
            state.off[child, cell] = -near
            change(state, child, cell, int(np.floor(near + SAME)))
    for cell in range(cells):
        lack = state.column[cell] - state.whole[:, cell].sum()
        if lack > 0:
            for child in range(children):
                costs[child] = added(state, child, cell, 1)
            for child in np.argsort(costs, kind="mergesort")[:lack]:
                change(state, child, cell, 1)


def _settle(state: Any) -> None:
    """Move persons between children until the totals hold, each where it costs least."""
    children, cells = state.whole.shape
    for giver in range(children):
        while state.excess[giver, 0] > 0.5:
            least, place, taker = np.inf, -1, -1
            for child in range(children):
                for cell in range(cells if state.excess[child, 0] < -0.5 else 0):
                    if state.whole[giver, cell] > 0:
                        cost = added(state, giver, cell, -1) + added(state, child, cell, 1)
                        if cost < least:
                            least, place, taker = cost, cell, child
            change(state, giver, place, -1)
            change(state, taker, place, 1)


def _exchange(state: Any) -> int:
    """Exchange persons between children and two cells, the cheapest with the cheapest; return how often.

    No child is on both sides: to move a person there and back costs something.
    """
    children, times = state.whole.shape[0], 0
    gives, takes = np.empty(children), np.empty(children)
    for cell in range(state.whole.shape[1]):
        for other in state.neighbours[cell]:
            while other >= 0:
                out, back = write_costs(state, cell, other, gives), np.inf
                if out < np.inf:
                    back = write_costs(state, other, cell, takes)
                if out + back > -SAME:
                    break
                givers, takers = cheapest(gives, -SAME - back), cheapest(takes, -SAME - out)
                for rank in range(min(givers.size, takers.size)):
                    giver, taker = givers[rank], takers[rank]
                    if gives[giver] + takes[taker] > -SAME:
                        break
                    change(state, giver, cell, -1)
                    change(state, giver, other, 1)
                    change(state, taker, other, -1)
                    change(state, taker, cell, 1)
                    times += 1
    return times


fill, settle, exchange = compiled(_fill), compiled(_settle), compiled(_exchange)


def _round_tables(state: Any) -> None:
    """Write whole numbers >= 0 that add up over the children to column, and in every child to its total."""
    fill(state)
    settle(state)
    for _ in range(SWEEPS):
        if exchange(state) == 0:
            break


round_tables = compiled(_round_tables)
