"""`gtr_top_down`: GT-R without the root, its levels in the best shares, its counts >= 0 family by family.

position -> one level of 1 to h at random -> the best oracle for it -> counts of all nodes -> from the top, every
family the nearest counts >= 0 that add up to their parent, which for the first family is everybody.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.protocol.short_reports import short_oracle, steps_of
from dpress.mechanisms.spatial.grids import ByHeight, OracleName
from dpress.mechanisms.spatial.levels import Levels, example

FALL = 1.4  # of the share, from the middle level to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class GtrTopDown(Levels):
    """The improved GT-R over a grid.

    Promise: pure epsilon between any two positions, local model, that of the level's oracle; proven.
    Error: biased toward nothing below zero, and nearer to the truth for it; by a parametric bootstrap (`maps`).
    Paper: spatial, "What dpress adds".
    """


def gtr_top_down(grid: Grid, loss: Loss, *, oracle: str | None = None) -> GtrTopDown | None:
    """Return the method over a grid; None where it does not serve.

    Args:
        grid: of side 2^h, h at least 1.
        loss: epsilon.
        oracle: the name of the oracle that every level is asked by; left out, the best one for its number of nodes.
    """
    if (pure_loss := as_pure(loss)) is None or not grid.height:
        return None
    levels = tuple(range(1, grid.height + 1))
    oracles = tuple(short_oracle(4**level, pure_loss, steps_of(oracle)) for level in levels)
    return GtrTopDown(
        grid=grid, levels=levels, oracles=oracles, weights=shares(grid.height), reconstruction="nonnegative", root=True
    )


def shares(height: int) -> tuple[int, ...]:
    """Return the sampling weights of the levels 1 to h: 1.4^-|l - h / 2|, in whole hundredths.

    A query is made of more nodes the deeper the level, which asks for users there; but where few people are, what holds
    counts at 0 keeps deep levels' noise out. The middle levels pay most (measured on check-ins and pick-ups: 2 to 9 %
    less error than even shares, the more the higher the tree).

    >>> shares(4)
    (71, 100, 71, 51)
    """
    return tuple(round(100 / FALL ** abs(level - height / 2)) for level in range(1, height + 1))


class Settings(ByHeight, frozen=True):
    """The quadtree, and how its levels are asked."""

    oracle: OracleName | None = None


CARD = Card(
    name="gtr_top_down",
    family="spatial",
    model="local",
    paper="spatial: What dpress adds (after GT-R; Zhang, Fu, Meng)",
    summary="Quadtree without its root, the best oracle on every level, counts >= 0 from the top down.",
    method=GtrTopDown,
    example=lambda loss, unit: example(gtr_top_down, loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=gtr_top_down,
    parameters=Settings,
)
