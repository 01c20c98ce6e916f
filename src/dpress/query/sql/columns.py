"""The attributes of a release as columns of SQL: found by a name in any case, with the values of their cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpress.attributes.protocol import Cells
from dpress.core.basics.near import meant
from dpress.query.query_tree import Condition
from dpress.query.sql.sql_refusal import refused
from dpress.query.sql.statement import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of the table that is asked.

    Args:
        text: of the statement, for refusals.
        attributes: with their cells.
        unit: the columns that name a person; none where rows are protected.
        joined: whether the rows may be those of several tables, as those of a release that is made are not.
        weight: the attribute that rows are weighted by; empty where they are not.
    """

    text: str
    attributes: tuple[Cells, ...]
    unit: tuple[str, ...] = ()
    joined: bool = False
    weight: str = ""

    def of(self, column: exp.Expr) -> Cells:
        """Return the attribute that a column names; of a level of one that with the level's nodes as cells.

        Raises:
            SqlRefusal: there is none, or it is no column.
        """
        word = self.word(column)
        attribute = next(each for each in self.attributes if word in (each.name, *each.tree_levels))
        try:
            return attribute if attribute.name == word else attribute.coarsened(word)
        except ValueError as fault:
            raise self.refused(str(fault), column) from None

    @property
    def words(self) -> tuple[str, ...]:
        """The names of the attributes, and of the levels of their trees."""
        names = [attribute.name for attribute in self.attributes]
        return (*names, *(level for attribute in self.attributes for level in attribute.tree_levels))

    def word(self, column: exp.Expr) -> str:
        """Return the name of the attribute, or of the level of one, that a column names.

        Raises:
            SqlRefusal: there is none, or it is no column.
        """
        if not isinstance(column, exp.Column):
            raise self.refused(f"expected a column, got {column.sql()!r}", column)
        name, words = column.name, self.words
        folded = [each for each in words if each.casefold() == name.casefold()]
        if name in words or len(folded) == 1:
            return name if name in words else folded[0]
        if folded:
            both = " and ".join(f'"{each}"' for each in folded)
            raise self.refused(f"{name!r} may be {both}: put the one that is meant in double quotes", column)
        raise self.refused(
            f"there is no column {name!r}; the columns are {', '.join(words)}{meant(name, words)}", column
        )

    def refused(self, message: str, node: exp.Expr | None = None) -> ValueError:
        """Return a refusal of a part of the statement."""
        return refused(message, self.text, node)


def cell(column: Cells, label: str) -> Condition:
    """Return the rows of a cell."""
    return Condition(word="=", attribute=column.name, level=column.level, values=(label,), written=label)


def cells(column: Cells, labels: Sequence[str]) -> Condition:
    """Return the rows of some cells."""
    if len(labels) == 1:
        return cell(column, labels[0])
    written = ", ".join(labels)
    return Condition(word="in", attribute=column.name, level=column.level, values=tuple(labels), written=written)


def missing(column: Cells) -> Condition | None:
    """Return the rows in which an attribute is missing; None where these have no cell to themselves."""
    return None if column.missing_cell is None else Condition(word="missing", attribute=column.name)


def labelled_values(column: Cells) -> tuple[tuple[Value, str], ...]:
    """Return the value of every cell with its label: whole numbers where every number has a cell, None for missing."""
    labels = column.labels_between(0, column.size)
    beyond = range(column.ordered, column.size)
    whole = column.unbinned and column.whole and set(beyond) <= {column.missing_cell}
    values: list[Value] = [
        int(label) if whole and place < column.ordered else label for place, label in enumerate(labels)
    ]
    if column.missing_cell is not None:
        values[column.missing_cell] = None
    return tuple(zip(values, labels, strict=True))
