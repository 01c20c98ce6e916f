"""The levels of a release of regions: what they are called, and which spine their regions form."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.near import meant
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.spine import Spine

if TYPE_CHECKING:
    from dpress.attributes.hierarchy.tree import Tree

TOTAL = "total"  # what everything together is called


def region_column(columns: Sequence[Tabular]) -> Tabular:
    """Return the one attribute whose codes have levels.

    Raises:
        NotSupported: there is none, or there are several; or it has a cell beside the regions.
    """
    with_levels = [column for column in columns if column.spine_tree is not None]
    if len(with_levels) != 1:
        names = ", ".join(column.name for column in with_levels) or "none"
        raise NotSupported(
            f'$.release.attributes: kind = "regions" needs one attribute of kind = "hierarchy", got {names}'
        )
    (column,) = with_levels
    if column.extra:
        raise NotSupported(
            f'$.attribute[{column.name}]: kind = "regions" has no region for {column.extra[0]!r}; set `other` and '
            '`null` to "reject" or "drop"'
        )
    return column


def spine_of(column: Tabular) -> Spine:
    """Return the tree of the regions down to the attribute's level."""
    if column.spine is None:
        raise TypeError(f"{column.name} has no levels")
    return column.spine


def level_names(column: Tabular) -> tuple[str, ...]:
    """Return what the levels are called, coarse to fine, everything first."""
    levels = tree_of(column).levels
    return (TOTAL, *levels[: levels.index(column.level) + 1])


def places_off_the_tree(column: Tabular) -> tuple[str, ...]:
    """Return the names of places beside the levels that can be asked for: they are made of leaves."""
    levels = tree_of(column).levels
    return column.tree_levels[len(levels) :] if column.level == levels[-1] else ()


def level_depth(name: str, levels: Sequence[str], place: str) -> int:
    """Return which level a name stands for, 0 for everything.

    Raises:
        ValueError: for none; one line that names the place, a parameter.
    """
    if name not in levels:
        raise ValueError(
            f"{PLACE}.{place}: there is no level {name!r}; the levels are {', '.join(levels)}{meant(name, levels)}"
        )
    return levels.index(name)


def table_title(names: Sequence[str], table: tuple[int, ...]) -> str:
    """Return what a table is called: its attributes, or `total`.

    >>> table_title(("sex", "age"), (0, 1)), table_title(("sex", "age"), ())
    ('sex x age', 'total')
    """
    return " x ".join(names[axis] for axis in table) or TOTAL


def tree_of(column: Tabular) -> "Tree":
    """Return the tree of the regions, all levels of it."""
    if column.spine_tree is None:
        raise TypeError(f"{column.name} has no levels")
    return column.spine_tree
