"""The columns of one `select` and what they are grouped by: expressions -> keys, the sets of `rollup`, numbers."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpress.core.basics.near import meant
from dpress.query.sql.columns import Columns
from dpress.query.sql.expressions import DIALECT, shown, written
from dpress.query.sql.keys import key_of
from dpress.query.sql.numbers import is_number, measure
from dpress.query.sql.statement import Key, Number

FUNCTIONS = ("count", "sum", "avg", "median", "percentile_cont", "var_pop")
Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """One `select` over the columns of a table.

    Args:
        columns: of the table.
        tree: of the statement.
    """

    columns: Columns
    tree: exp.Select

    def grouped(self) -> tuple[tuple[Key, ...], Sets]:
        """Return the keys, and of which of them each table is: one for all, or those of `rollup` and the like."""
        group = self.tree.args.get("group")
        if group is None:
            return (), ((),)
        elements = [*group.expressions]
        if group.args.get("all"):
            elements = [inner(column) for column in self.tree.expressions if not is_number(column)]
        chosen = [
            [*itertools.chain.from_iterable(parts)] for parts in itertools.product(*map(self._alternatives, elements))
        ]
        nodes = {written(node): node for node in itertools.chain.from_iterable(chosen)}
        places = {text: place for place, text in enumerate(nodes)}
        keys = tuple(key_of(self.columns, node, self._name(node)) for node in nodes.values())
        return keys, tuple(dict.fromkeys(tuple(sorted({places[written(node)] for node in each})) for each in chosen))

    def _alternatives(self, element: exp.Expr) -> Iterator[tuple[exp.Expr, ...]]:
        """Yield the sets of keys that an element of `group by` stands for."""
        if isinstance(element, exp.GroupingSets):
            for part in element.expressions:
                yield from self._alternatives(part)
            return
        parts = tuple(self._resolved(part) for part in element.expressions)
        if isinstance(element, exp.Rollup):
            yield from (parts[:count] for count in range(len(parts), -1, -1))
        elif isinstance(element, exp.Cube):
            for count in range(len(parts), -1, -1):
                yield from itertools.combinations(parts, count)
        else:
            yield parts if isinstance(element, exp.Tuple) else (self._resolved(element),)

    def _resolved(self, node: exp.Expr) -> exp.Expr:
        """Return what a name, or a number, of a column of the answer stands for; anything else as it is."""
        if isinstance(node, exp.Paren):
            return self._resolved(node.this)
        if isinstance(node, exp.Column) and node.name not in self.columns.words:
            named = [each for each in self.tree.expressions if each.alias.casefold() == node.name.casefold()]
            return inner(named[0]) if named else node
        return self.numbered(node)

    def numbered(self, node: exp.Expr) -> exp.Expr:
        """Return the column that a number names, counted from 1; anything else as it is."""
        if not isinstance(node, exp.Literal) or node.is_string:
            return node
        listed, place = self.tree.expressions, int(node.this) if str(node.this).isdigit() else 0
        if not 1 <= place <= len(listed):
            raise self.columns.refused(f"there is no column {node.this}: {len(listed)} are selected", node)
        return inner(listed[place - 1])

    def _name(self, node: exp.Expr) -> str:
        """Return the name of a key's column: as it is called, or as it is written."""
        aliases = [each.alias for each in self.tree.expressions if written(inner(each)) == written(node)]
        called = aliases[0] if aliases else ""
        return called or (self.columns.word(node) if isinstance(node, exp.Column) else node.sql(dialect=DIALECT))

    def listed(self, keys: Sequence[Key]) -> tuple[tuple[Number, ...], tuple[str, ...]]:
        """Return the numbers that are selected, and the names of all columns in order.

        Raises:
            SqlRefusal: a column is neither a key nor a number, or there is no number.
        """
        numbers, names = list[Number](), list[str]()
        for column in self.tree.expressions:
            node = inner(column)
            if (key := next((key for key in keys if key.written == written(node)), None)) is not None:
                names.append(key.name)
                continue
            if not is_number(node):
                why = f"{shown(node)} is neither grouped by nor a number; add it to `group by`"
                if isinstance(node, exp.Anonymous):
                    why = f"there is no function {node.name.lower()!r}{meant(node.name, FUNCTIONS)}"
                raise self.columns.refused(why, node)
            numbers.append(self.number(node, column.alias, {*names, *(key.name for key in keys)}))
            names.append(numbers[-1].name)
        if not numbers:
            raise self.columns.refused("no number is asked for; add one, such as count(*)", self.tree)
        return tuple(numbers), tuple(names)

    def number(self, node: exp.Expr, alias: str, taken: set[str]) -> Number:
        """Return a number with a name that no other column has."""
        made = measure(self.columns, node)
        name = alias or made.name
        numbered = (f"{name}_{count}" for count in itertools.count(2))
        free = name if name not in taken else next(each for each in numbered if each not in taken)
        return Number(name=free, query=made.query, factor=made.factor, places=made.places, written=written(node))


def inner(column: exp.Expr) -> exp.Expr:
    """Return what a column of the answer is, without its name."""
    named: exp.Expr = column.this
    return named if isinstance(column, exp.Alias) else column
