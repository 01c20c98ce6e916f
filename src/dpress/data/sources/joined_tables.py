"""Tables of a database that are joined by their persons: inner and left joins `using` the unit's columns, nothing else.

visits join persons using (person_id) -> the tables, each with the unit's columns -> a query of ours over them. Why no
row is of two persons then, and what else would break that: docs/explanations/proofs/joins.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.source import Dialect, Source, check_columns
from dpress.data.sources.sql_text import quoted
from dpress.data.sources.table_name import WHY, relation

DIALECT = "duckdb"  # whose grammar holds all that is refused here
INTEGERS = re.compile(r"tinyint|smallint|integer|bigint", re.IGNORECASE)  # equal across lengths
EXACT = re.compile(r"hugeint|u\w*int(eger)?|uuid|date|boolean|(decimal|numeric)\(\d+,\d+\)", re.IGNORECASE)
TEXTS = re.compile(r"text|varchar|enum\([^\[]*\)", re.IGNORECASE)
PLAIN = frozenset({"this", "db", "catalog", "alias"})  # what a table's name consists of
TABLES = frozenset({"expressions", "from_", "joins"})  # what a statement of tables alone has
KINDS = {"": ("", "INNER"), "LEFT": ("", "OUTER")}  # of a join, by its side
RIGHT = "a right join is the left join of the tables in the other order: begin with {0} and `left join` the others"
FULL = (
    "a full join adds rows of {0} without the others, so that a count is of neither; `left join`, or ask of each table "
    "by itself"
)
NATURAL = "a natural join compares whatever columns have one name, now or later; write `using ({1})`"
CROSS = "a join without `using` gives each person's rows to all others; write `using ({1})`"
CONDITION = "`on` may give one person's rows to another; write `using ({1})`, the `unit` of [privacy]"
OTHER = "only inner and left joins are known to keep every row one person's; write `join {0} using ({1})`"
COLUMNS = "expected `using ({1})`, the `unit` of [privacy]: by other or fewer columns one person's rows meet another's"
ROWS = (
    "tables are joined by persons, and where rows are protected there are none: name the person's column in `unit` of "
    "[privacy]"
)


class JoinRefusal(ValueError):
    """Tables that are not joined by their persons.

    Args:
        message: why not, in one line.
        node: of the statement that is at fault.
    """

    def __init__(self, message: str, node: exp.Expr) -> None:
        """Keep the place."""
        super().__init__(message)
        self.node = node


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Tables that are joined by the unit's columns.

    Args:
        tables: their names, as `table_name.relation` takes them; shape (tables,).
        outer: whether each but the first may lack a row; shape (tables - 1,).
        unit: the columns that name a person.
    """

    tables: tuple[str, ...]
    outer: tuple[bool, ...]
    unit: tuple[str, ...]

    @property
    def others(self) -> str:
        """What stands behind the name of the first table."""
        pairs = zip(self.tables[1:], self.outer, strict=True)
        unit = ", ".join(map(_written, self.unit))
        return "".join(f" {'left ' if outer else ''}join {table} using ({unit})" for table, outer in pairs)

    @property
    def text(self) -> str:
        """The tables as a source names them behind `#`."""
        return self.tables[0] + self.others


def read(name: str, database: str, unit: Sequence[str]) -> Joined:
    """Return the tables that stand behind `#`.

    Args:
        name: all of it.
        database: that they are in, for the message.
        unit: the columns that name a person; none where rows are protected.

    Raises:
        SchemaMismatch: it is more than tables, or they are not joined by their persons.
    """
    try:
        trees = sqlglot.parse(f"SELECT * FROM {name}", read=DIALECT)  # noqa: S608  # parsed, never run
    except SqlglotError:
        trees = []
    if len(trees) != 1 or not isinstance(tree := trees[0], exp.Select) or _others(tree, TABLES):
        raise SchemaMismatch(f"{database}: expected tables that are joined; {WHY}")
    try:
        return joined_of(tree, unit)
    except JoinRefusal as refusal:
        raise SchemaMismatch(f"{database}: {refusal}") from None


def joined_of(tree: exp.Select, unit: Sequence[str]) -> Joined:
    """Return the tables of a statement.

    Args:
        tree: of the statement, with joins or without.
        unit: the columns that name a person; none where rows are protected.

    Raises:
        JoinRefusal: they are not joined by their persons.
    """
    joins: list[exp.Join] = tree.args.get("joins") or []
    first = _table(tree.args["from_"].this if "from_" in tree.args else tree)
    if joins and not unit:
        raise JoinRefusal(ROWS, joins[0])
    for join in joins:
        _check(join, first, unit)
    return Joined(
        tables=(first, *(_table(join.this) for join in joins)),
        outer=tuple(join.side == "LEFT" for join in joins),
        unit=tuple(unit),
    )


def selected(joined: Joined, sources: Sequence[Source]) -> tuple[str, dict[str, str]]:
    """Return a query of all columns of joined tables, in the sources' dialect, and the declared type of each.

    Two rows are joined where the unit's columns are equal as they are read: texts byte by byte, whatever the columns'
    collation. The unit stands once, as the first table has it.

    Args:
        joined: the tables.
        sources: the tables as sources of one database.

    Raises:
        SchemaMismatch: a table lacks the unit's columns, has them in another type, or two have a column of one name.
        OSError: the database cannot say what they are.
    """
    kinds = [source.types() for source in sources]
    for source, present in zip(sources, kinds, strict=True):
        check_columns(source.name, joined.unit, list(present), folds=True)
    _check_apart(joined, kinds)
    dialect = sources[0].dialect
    columns = [
        (place, name, kind)
        for place, present in enumerate(kinds)
        for name, kind in present.items()
        if not place or name not in joined.unit
    ]
    values = ", ".join(f"{_value(place, name, kind, dialect)} AS {quoted(name)}" for place, name, kind in columns)
    tables = f"{sources[0].relation} AS t0" + "".join(
        f" {'LEFT' if outer else 'INNER'} JOIN {source.relation} AS t{place} ON "
        + " AND ".join(_equal(name, kinds, place, joined, dialect) for name in joined.unit)
        for place, (source, outer) in enumerate(zip(sources[1:], joined.outer, strict=True), 1)
    )
    return f"SELECT {values} FROM {tables}", {name: kind for _, name, kind in columns}  # noqa: S608  # names are quoted


def _check(join: exp.Join, first: str, unit: Sequence[str]) -> None:
    """Refuse a join that is none of persons."""
    using = [_identifier(each) for each in join.args.get("using") or ()]
    of_kind = join.kind in KINDS.get(join.side, ()) and not join.method
    faults = (
        (join.method == "NATURAL", NATURAL),
        (join.side == "FULL", FULL),
        (join.side == "RIGHT", RIGHT),
        (join.kind == "CROSS" or (of_kind and not using and "on" not in join.args), CROSS),
        (not of_kind or _others(join, {"this", "side", "kind", "using", "on"}), OTHER),
        ("on" in join.args, CONDITION),
        (not _is_unit(using, unit), COLUMNS),
    )
    for fault, why in faults:
        if fault:
            raise JoinRefusal(why.format(_table(join.this), ", ".join(unit), first), join)


def _is_unit(using: Sequence[exp.Identifier], unit: Sequence[str]) -> bool:
    """Return whether columns are the unit's, each once; names without quotes in any case."""
    named = sorted(next((name for name in unit if _names(each, name)), "") for each in using)
    return named == sorted(unit)


def _names(identifier: exp.Identifier, name: str) -> bool:
    written = str(identifier.this)
    return written == name or (not identifier.quoted and written.casefold() == name.casefold())


def _identifier(node: exp.Expr) -> exp.Identifier:
    return node if isinstance(node, exp.Identifier) else node.find(exp.Identifier) or exp.to_identifier("")


def _others(node: exp.Expr, plain: set[str] | frozenset[str]) -> set[str]:
    """Return what a part of a statement has besides."""
    return {name for name, value in node.args.items() if value} - plain


def _table(node: exp.Expr) -> str:
    """Return the name of a table, as it is written."""
    parts = [node.args.get(part) for part in ("catalog", "db", "this")] if isinstance(node, exp.Table) else []
    alias = node.args.get("alias")
    named = [part for part in parts if isinstance(part, exp.Identifier)]
    if (
        not named
        or len(named) != sum(map(bool, parts))
        or _others(node, PLAIN)
        or (alias and alias.args.get("columns"))
    ):
        raise JoinRefusal(f"joined are tables and views, by their names; {WHY}", node)
    return ".".join(quoted(part.this) if part.quoted else str(part.this) for part in named)


def _written(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else quoted(name)


def same(joined: Joined, other: Joined) -> bool:
    """Return whether two joins are of the same tables in the same way; their quotes do not matter."""
    names = [[relation(table, "") for table in each.tables] for each in (joined, other)]
    return names[0] == names[1] and joined.outer == other.outer


def _check_apart(joined: Joined, kinds: Sequence[Mapping[str, str]]) -> None:
    """Refuse columns of one name in two tables, in upper or lower case."""
    seen: dict[str, str] = {}
    for table, present in zip(joined.tables, kinds, strict=True):
        for name in _besides(present, joined.unit):
            if (other := seen.setdefault(name.casefold(), table)) != table:
                raise SchemaMismatch(
                    f"both {other} and {table} have a column {name!r}, and only the unit is joined by; make a view of "
                    "one of them that leaves it out or names it otherwise"
                )


def _besides(present: Mapping[str, str], unit: Sequence[str]) -> Iterator[str]:
    return (name for name in present if name not in unit)


def _value(place: int, name: str, kind: str, dialect: Dialect | None) -> str:
    """Return the SQL of a column's value; PostgreSQL's enumerations and padded texts as texts."""
    return f"t{place}.{quoted(name)}" + ("::text" if dialect == "postgres" and kind == "text" else "")


def _equal(name: str, kinds: Sequence[Mapping[str, str]], place: int, joined: Joined, dialect: Dialect | None) -> str:
    """Return the SQL of whether two tables have one person; no two values that differ elsewhere are equal."""
    first, other = kinds[0][name], kinds[place][name]
    sides = [f"t{each}.{quoted(name)}" for each in (0, place)]
    if TEXTS.fullmatch(first) and TEXTS.fullmatch(other):
        form = '{}::text COLLATE "C"' if dialect == "postgres" else "encode(CAST({} AS VARCHAR))"
        return " = ".join(form.format(side) for side in sides)
    if not (INTEGERS.fullmatch(first) and INTEGERS.fullmatch(other)) and not (
        first == other and EXACT.fullmatch(first)
    ):
        raise SchemaMismatch(
            f"the column {name!r} of {joined.tables[0]} is {first} and that of {joined.tables[place]} {other}: two "
            "persons may be equal in them; make views that have it as integer or text"
        )
    return " = ".join(sides)
