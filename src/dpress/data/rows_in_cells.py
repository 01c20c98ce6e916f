"""Rows whose values lie in public cells of attributes: a condition, as every engine reads it.

A value is coded as wherever it is counted (`codec`, `code_expression`), so that a condition holds of the same rows
here, in SQL and on Spark. A value without a cell, missing ones among them, is in none, and in no complement of any.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.attributes.policy import DROPPED, MISSING, OUTSIDE
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.maps.runs import Runs
from dpress.data.codec.codec import cells_of
from dpress.data.kept_rows import Rule

if TYPE_CHECKING:
    from sqlglot import exp

    from dpress.data.sql.coded_rows import Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class InCells(Rule):
    """Rows whose value lies in some cells.

    Args:
        attribute: that codes the value.
        cells: of it.
    """

    attribute: Tabular
    cells: Runs

    @property
    def attributes(self) -> tuple[Tabular, ...]:
        """The attribute."""
        return (self.attribute,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that it reads."""
        return (self.attribute.read_from,)

    def holds(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Return whose value lies there; see `Rule`."""
        codes = cells_of(self.attribute, batch)
        for beside in (OUTSIDE, MISSING):
            if (absent := codes == beside).any():
                codes = np.where(absent, _settled(self.attribute, beside), codes)
        firsts, lasts = np.array(self.cells, dtype=np.int64).reshape(-1, 2).T
        place = np.searchsorted(firsts, codes, side="right") - 1
        return np.asarray((place >= 0) & (codes <= np.append(lasts, DROPPED)[place]))

    def sql(self, relation: "Relation") -> "exp.Expr":
        """Return the SQL of the same; see `Rule`."""
        from sqlglot import exp  # noqa: PLC0415  # a parser of SQL, which few sources need

        from dpress.attributes.sql.engine_column import whole  # noqa: PLC0415  # as above
        from dpress.data.sql.code_expression import code_expression  # noqa: PLC0415  # as above

        column = relation.column(self.attribute.read_from)
        if (code := code_expression(self.attribute, column)) is None:
            what = f"{self.attribute.name}, a column of {column.declared}"
            raise NotSupported(f"$.data.where: {relation.dialect} cannot compare {what}, as files are; use a view")
        tests = [exp.Between(this=code.copy(), low=whole(low), high=whole(high)) for low, high in self.cells]
        return exp.or_(*tests) if tests else exp.false()


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(Rule):
    """Rows of which all rules hold, or any.

    Args:
        word: "and" or "or".
        parts: the rules.
    """

    word: Literal["and", "or"]
    parts: tuple[Rule, ...]

    @property
    def attributes(self) -> tuple[Tabular, ...]:
        """The attributes of all parts."""
        return tuple(attribute for part in self.parts for attribute in part.attributes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all parts, each once."""
        return tuple(dict.fromkeys(column for part in self.parts for column in part.columns))

    def holds(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Return of which rows all parts hold, or any; see `Rule`."""
        join = np.logical_and if self.word == "and" else np.logical_or
        return np.asarray(join.reduce([part.holds(batch) for part in self.parts]))

    def sql(self, relation: "Relation") -> "exp.Expr":
        """Return the SQL of the same; see `Rule`."""
        from sqlglot import exp  # noqa: PLC0415  # a parser of SQL, which few sources need

        join = exp.and_ if self.word == "and" else exp.or_
        return join(*(part.sql(relation) for part in self.parts))


def _settled(attribute: Tabular, beside: int) -> int:
    """Return the cell that the specification names for OUTSIDE or MISSING values; DROPPED without one."""
    try:
        return attribute.settled(beside)
    except SchemaMismatch:
        return DROPPED
