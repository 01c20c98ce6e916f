"""Rows bounded to a few of each person, in SQL: those with the smallest keyed hash of what the row holds.

person and row -> texts that differ where they do -> SHA-256 under a secret key -> `row_number` per person <= k.
An engine may evaluate an expression twice, so nothing here draws: a row's hash depends on the key, its person and its
content alone. Rows of one person with equal content are interchangeable, so a tie has no effect on any sum.
"""

import re
import secrets
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from dpress.attributes.sql.engine_column import Column, Dialect, whole
from dpress.attributes.value import EXACT
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.source import Source
from dpress.data.sql.coded_rows import Relation, check_wanted, relation_of

RANK = "dpress_rank"
TEXTS: dict[Dialect, re.Pattern[str]] = {  # types that SQL does not code, whose texts differ where their values do
    "duckdb": re.compile("UHUGEINT|BIGNUM|JSON|TIME|TIME_NS|BLOB"),
    "postgres": re.compile('numeric|jsonb?|time without time zone|oid|bytea|"char"'),
    "spark": re.compile("(?!)"),
}


def bounded_query(source: Source, unit: Unit, columns: Sequence[str]) -> str:
    """Return a query of some columns of a source in which every person has at most `unit.rows` rows, under a fresh key.

    Raises:
        SchemaMismatch: a row has no person; or see `bounded_rows`.
    """
    relation, persons = relation_of(source), unit.columns
    check_wanted(source, relation, (*columns, *persons))
    if source.fetch(nameless_rows(relation, persons))[0][0].as_py():
        which = " or ".join(map(repr, persons))
        raise SchemaMismatch(f"{source.name}: a row has no {which}; every row needs its person")
    key = f"'{secrets.token_hex(32)}'"
    return bounded_rows(relation, persons, columns, rows=unit.rows, key=key)


def bounded_rows(relation: Relation, persons: Sequence[str], columns: Sequence[str], *, rows: int, key: str) -> str:
    """Return a query of some columns in which a person has at most so many rows.

    Args:
        relation: the rows, whose columns count by content.
        persons: the columns that name a row's person.
        columns: to return; the rows' content is theirs alone.
        rows: the most of one person.
        key: the SQL of a secret text that nobody else knows: a parameter of the statement, or a literal where the
            engine keeps no statements. It is one for all rows and fresh for every release.

    Raises:
        SchemaMismatch: a column is missing, or its type has no text that differs where its values do.
    """
    name = person_text(relation, persons)
    parts = [exp.Var(this=key), name, *(_content(relation.column(column)) for column in columns)]
    digest = _digest(_joined([_measured(part) for part in parts], relation), relation)
    rank = exp.Window(this=exp.RowNumber(), partition_by=[name.copy()], order=exp.Order(expressions=[digest]))
    selected = [exp.column(column, quoted=True) for column in columns]
    ranked = exp.select(*selected, exp.alias_(rank, RANK)).from_(relation.source).subquery("dpress_ranked")
    kept = exp.select(*(column.copy() for column in selected)).from_(ranked).where(exp.column(RANK) <= whole(rows))
    return kept.sql(dialect=relation.dialect)


def nameless_rows(relation: Relation, persons: Sequence[str]) -> str:
    """Return a query of the number of rows without a person; the caller refuses any.

    Raises:
        SchemaMismatch: see `bounded_rows`.
    """
    name = person_text(relation, persons)
    missing = exp.Count(this=exp.Star()) - exp.Count(this=name)
    return exp.select(exp.alias_(missing, "nameless")).from_(relation.source).sql(dialect=relation.dialect)


def person_text(relation: Relation, columns: Sequence[str]) -> exp.Expr:
    """Return the text that tells persons apart who are named by one column, or by several; NULL where one is missing.

    Of several every text stands after its length: ("a", "bc") is not ("ab", "c").
    """
    names = [person_name(relation.column(column)) for column in columns]
    if len(names) == 1:
        return names[0]
    joined, *others = map(_after_length, names)
    for other in others:
        joined = exp.DPipe(this=joined, expression=other)
    return _compared(joined, relation.dialect)


def person_name(column: Column) -> exp.Expr:
    """Return the text that names a row's person by value, NULL where there is none: 7.0 is 7, and -0.0 is 0."""
    kind = column.kind
    if column.dialect == "postgres" and column.base == "numeric":
        number = _call("nullif", column.raw, exp.Literal.string("NaN"))
        return _bytes(_call("trim_scale", number), column)
    if kind is None:
        return _bytes(_content(column), column)
    if pa.types.is_floating(kind):
        number = exp.cast(column.raw, "double")
        integer = exp.and_(exp.Abs(this=number) < whole(EXACT), number.eq(exp.Floor(this=number.copy())))
        whole_number = exp.TryCast(this=number.copy(), to=exp.DataType.build("bigint"))  # DuckDB casts NaN all the same
        written = exp.cast(whole_number, "text")
        text: exp.Expr = exp.case().when(integer, written).else_(_content(column))
    elif pa.types.is_decimal(kind) and kind.scale:
        text = exp.cast(column.raw, "text")
        for blank in ("0", "."):
            text = _call("rtrim", *_trimming(text, blank, column))
    else:
        return _bytes(_content(column), column)
    return _bytes(exp.case().when(exp.not_(column.missing), text), column)


def _trimming(text: exp.Expr, blank: str, column: Column) -> list[exp.Expr]:
    """Return the arguments of `rtrim`, which Spark takes the other way round."""
    both = [text, exp.Literal.string(blank)]
    return both[::-1] if column.dialect == "spark" else both


def _content(column: Column) -> exp.Expr:
    """Return a text of a value that differs where values do, whatever the session's settings; NULL where it is NULL."""
    kind: Any = column.kind
    if kind is None:
        if not TEXTS[column.dialect].fullmatch(column.base):
            raise SchemaMismatch(
                f"the column {column.name!r} of type {column.declared} has no text that tells its values apart; "
                f"convert it to text first"
            )
        return exp.cast(column.raw, "text")
    if pa.types.is_floating(kind) and column.dialect == "postgres":  # whose text depends on extra_float_digits
        return _call("encode", _call("float8send", exp.cast(column.raw, "double")), exp.Literal.string("hex"))
    if pa.types.is_temporal(kind) and column.dialect != "duckdb":
        return exp.cast(_ticks(column), "text")
    return exp.cast(column.value, "text")


def _ticks(column: Column) -> exp.Expr:
    """Return a time as a number, which has no zone, no order of day and month and no hour that comes twice."""
    if column.dialect == "postgres":
        return exp.Extract(this=exp.var("EPOCH"), expression=column.raw)
    if pa.types.is_date(column.kind):
        return _call("unix_date", column.raw)
    return _call("unix_micros", column.raw) if column.base == "timestamp" else column.raw


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _bytes(text: exp.Expr, column: Column) -> exp.Expr:
    """Return a text that is compared by bytes."""
    return _call("hex", _call("encode", text)) if column.dialect == "duckdb" else _compared(text, column.dialect)


def _compared(text: exp.Expr, dialect: Dialect) -> exp.Expr:
    """Return a text, in DuckDB of hexadecimal digits, that is compared by bytes."""
    if dialect == "spark":
        return exp.Collate(this=exp.cast(text, "text"), expression=exp.Var(this="UTF8_BINARY"))
    if dialect == "duckdb":
        return text
    return exp.Collate(this=exp.cast(text, "text"), expression=exp.to_identifier("C", quoted=True))


def _measured(text: exp.Expr) -> exp.Expr:
    """Return a text after its length, so that no two lists of texts run together to one; NULL is none of them."""
    return exp.Coalesce(this=_after_length(text), expressions=[exp.Literal.string("n")])


def _after_length(text: exp.Expr) -> exp.Expr:
    """Return a text after its length; NULL where it is NULL."""
    length = exp.cast(_call("char_length", text), "text")
    return exp.DPipe(this=exp.DPipe(this=length, expression=exp.Literal.string(":")), expression=text.copy())


def _joined(parts: Sequence[exp.Expr], relation: Relation) -> exp.Expr:
    joined, *others = parts
    for other in others:
        joined = exp.DPipe(this=joined, expression=other)
    if relation.dialect == "postgres":
        return _call("convert_to", joined, exp.Literal.string("UTF8"))
    return joined


def _digest(text: exp.Expr, relation: Relation) -> exp.Expr:
    if relation.dialect == "spark":
        return _call("sha2", exp.cast(text, "binary"), whole(256))
    return _call("sha256", text)
