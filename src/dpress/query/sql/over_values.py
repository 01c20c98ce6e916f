"""What is done to the published values: `having`, `order by`, `limit` and `offset`, as SQL over the answer's columns.

The numbers in them are those of the answer, or asked for beside them and not shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dpress.query.sql.expressions import DIALECT, written
from dpress.query.sql.selected import Selected
from dpress.query.sql.sql_table import number_columns
from dpress.query.sql.statement import Key, Number


@dataclass(slots=True, kw_only=True)
class OverValues:
    """Reads it.

    Args:
        selected: the columns of the statement.
        keys: that rows are grouped by.
        numbers: that are selected.
        hidden: numbers that are not.
    """

    selected: Selected
    keys: Sequence[Key]
    numbers: Sequence[Number]
    hidden: list[Number] = field(default_factory=list)

    @property
    def _columns(self) -> list[Key | Number]:
        return [*self.keys, *self.numbers, *self.hidden]

    def sql(self) -> str:
        """Return the SQL that follows `SELECT * FROM answers`; the hidden numbers are known afterwards."""
        tree, parts = self.selected.tree, list[str]()
        if (having := tree.args.get("having")) is not None:
            parts.append(f"WHERE {self._over(having.this).sql(dialect=DIALECT)}")
        if (order := tree.args.get("order")) is not None:
            parts.append(
                f"ORDER BY {', '.join(self._ordered(term).sql(dialect=DIALECT) for term in order.expressions)}"
            )
        parts += [end.sql(dialect=DIALECT).strip() for word in ("limit", "offset") if (end := tree.args.get(word))]
        return " ".join(parts)

    def _ordered(self, term: exp.Expr) -> exp.Expr:
        made = term.copy()
        made.set("this", self._over(self.selected.numbered(term.this)))
        return made

    def _over(self, node: exp.Expr) -> exp.Expr:
        """Return an expression over the columns of the answer."""
        same = [column.name for column in self._columns if column.written == written(node)]
        if same:
            return exp.column(same[0], quoted=True)
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
            return exp.column(self._beside(node), quoted=True)
        if isinstance(node, exp.Column):
            return exp.column(self._named(node), quoted=True)
        if isinstance(node, exp.Anonymous | exp.UDTF):
            raise self.selected.columns.refused(f"there is no function {node.name!r} over published values", node)
        made = node.copy()
        for word, part in node.args.items():
            if isinstance(part, exp.Expr):
                made.set(word, self._over(part))
            elif isinstance(part, list):
                made.set(word, [self._over(each) if isinstance(each, exp.Expr) else each for each in part])
        return made

    def _beside(self, node: exp.Expr) -> str:
        """Return the name of a number that is not shown, asked for from now on."""
        taken = {column.name for column in self._columns}
        self.hidden.append(self.selected.number(node, "", taken))
        return self.hidden[-1].name

    def _named(self, node: exp.Column) -> str:
        """Return the column of the answer that a name means: also an error, or an end of an interval."""
        shown, with_sampling = (
            [name for number in self.numbers for name in number_columns(number.name, sampled=sampled)]
            for sampled in (False, True)
        )
        names = [key.name for key in self.keys]
        same = [name for name in (*names, *with_sampling) if name.casefold() == node.name.casefold()]
        if not same:
            why = f"{node.name!r} is no column of the answer; there are {', '.join((*names, *shown))}"
            raise self.selected.columns.refused(why, node)
        return same[0]
