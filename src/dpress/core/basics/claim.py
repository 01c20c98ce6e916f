"""What a release promises: the privacy loss, between which neighbours, for which unit, published and proven."""

import enum
from dataclasses import dataclass
from typing import ClassVar

from dpress.core.basics import check
from dpress.core.basics.losses.loss import Loss


class Relation(enum.StrEnum):
    """Which two tables are neighbours.

    `ADD_REMOVE`: one unit is added or removed.
    `REPLACE_ONE`: one unit's data is replaced; the number of units is public.

    >>> Relation("replace-one") is Relation.REPLACE_ONE
    True
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Whom the promise protects: one row, or a person who owns at most `rows` rows.

    Args:
        relation: the neighbour relation.
        column: the column that names the person; None protects a single row.
        rows: the largest number of rows a person keeps (enforced before anything is counted).
        also: further columns that name a person together with the first, as the number within a household does.

    >>> Unit(column="hhid", also=("pid",), rows=3).counted
    'at most 3 rows for each hhid and pid'
    """

    added_later: ClassVar = ("also",)

    relation: Relation = Relation.ADD_REMOVE
    column: str | None = None
    rows: int = 1
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        check.count("rows_per_unit", self.rows)
        if self.column is None and self.rows != 1:
            raise ValueError(f"rows_per_unit must be 1 when the unit is a row, got rows_per_unit={self.rows}")
        if len({*self.columns}) < len(self.columns) or (self.column is None and self.also):
            raise ValueError(f"a person is named by different columns, got {', '.join(self.columns) or self.also[0]}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name the person: two rows are of one where all of them are equal; none for a row."""
        return () if self.column is None else (self.column, *self.also)

    @property
    def name(self) -> str:
        """Whom the promise protects, in words: a row, or what names the person."""
        return " and ".join(self.columns) or "row"

    @property
    def counted(self) -> str:
        """What counts are of where a person keeps a bounded number of rows, in words; empty where all are counted."""
        if self.column is None:
            return ""
        return f"at most {self.rows:,} {'row' if self.rows == 1 else 'rows'} for each {self.name}"


ROW = Unit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The promise of one mechanism on one table.

    Args:
        published: what the method's paper claims; None if it claims nothing of the kind.
        proven: what a proof shows for the code that runs; None without a proof.
        unit: between which neighbours.
        basis: one sentence that says why, naming the numbers that the sampler uses.
        given: what is public beside, so that both neighbours have it; empty where nothing is.

    >>> from dpress.core.basics.losses.any_loss import describe
    >>> from dpress.core.basics.losses.pure import PureDP
    >>> claim = Claim(published=PureDP(epsilon=1), proven=None, unit=ROW, basis="no proof for the code that runs")
    >>> describe(claim.published), describe(claim.proven)
    ('epsilon = 1', 'nothing')
    """

    published: Loss | None
    proven: Loss | None
    unit: Unit
    basis: str
    given: str = ""
