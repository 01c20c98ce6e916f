"""How often every name occurs, by statements of the engine that has the rows: only names and their counts leave it.

rows, at most so many of each person -> the name of each, or none -> each once for a person -> GROUP BY the name and
how many names the person has -> counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.policy import DROP, REJECT
from dpress.attributes.sql.engine_column import TEXT, Column, text, whole
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.name_counts import LONGEST_NAME
from dpress.data.sql.coded_rows import Relation, check_wanted, relation_of
from dpress.data.sql.person_rows import person_text
from dpress.data.table import Table

NAME, SIZE, COUNT = "dpress_name", "dpress_size", "dpress_count"
PERSON = "dpress_person"


def sql_names(table: Table, attribute: Categorical, persons: Sequence[str], *, sizes: bool) -> pa.Table | None:
    """Return the counts of names, of persons once for a name; None where the codec is to read the column.

    Columns: names (null for none), where asked for how many names their units have, and how often each occurs, in any
    order, and all different.

    Whether it is follows from the specification and the declared type alone. Counts are those of the codec: names are
    compared by bytes.

    Args:
        table: the rows, drawn.
        attribute: whose values are discovered.
        persons: the columns that name a row's person; none where rows are counted.
        sizes: whether counts are asked for by how many names a unit has.

    Raises:
        OSError: the rows cannot be read, or they changed.
        SchemaMismatch: there is no such column, there are no rows, or a value is missing that may not be.
    """
    if table.source.dialect is None or (persons and not table.source.database):
        return None
    source = table.source
    relation = relation_of(source)
    check_wanted(source, relation, table.columns)
    queries = statements(attribute, relation, persons, sizes=sizes)
    if queries is None:
        return None
    rows, named = (int(column[0].as_py()) for column in source.fetch(queries.numbers).columns)
    if not rows:
        raise SchemaMismatch(f"{source.name} has no rows to count")
    if attribute.null == REJECT and named < rows:
        raise SchemaMismatch(f"attribute {attribute.name}: a value is missing; say what to do in `null`")
    names = source.fetch(queries.names)
    table.check_unchanged()
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """What is asked of an engine.

    Args:
        numbers: how many rows there are, and how many of them have a value.
        names: every name, where asked for by how many a unit has, with its count.
    """

    numbers: str
    names: str


def statements(attribute: Categorical, relation: Relation, persons: Sequence[str], *, sizes: bool) -> Statements | None:
    """Return the statements that count names; None where the engine cannot name the column's values as the codec does.

    Args:
        attribute: whose values are discovered.
        relation: the rows, bounded to a few of each person.
        persons: the columns that name a row's person; none where rows are counted.
        sizes: whether names are counted by how many of them a unit has.
    """
    column = relation.column(attribute.read_from)
    other = text(attribute.other, relation.dialect)
    named = column.kind is not None and (
        column.kind == TEXT or pa.types.is_integer(column.kind) or pa.types.is_boolean(column.kind)
    )
    if not named or other is None:
        return None
    columns = [exp.alias_(_name(column, other), NAME)]
    if persons:
        columns.append(exp.alias_(person_text(relation, persons), PERSON))
    rows = exp.select(*columns).from_(relation.source)
    if attribute.null == DROP:
        rows = rows.where(exp.not_(column.missing))
    counted, keys = rows.distinct() if persons else rows, [NAME]
    if sizes and persons:
        size = exp.Window(this=exp.Count(this=exp.column(NAME)), partition_by=[exp.column(PERSON)])
        counted, keys = exp.select(NAME, exp.alias_(size, SIZE)).from_(counted.subquery("dpress_names")), [NAME, SIZE]
    number = exp.cast(exp.Count(this=exp.Star()), "bigint")
    names = exp.select(*keys, exp.alias_(number, COUNT)).from_(counted.subquery("dpress_sizes")).group_by(*keys)
    present = exp.cast(exp.Count(this=column.raw), "bigint")
    numbers = exp.select(exp.alias_(number.copy(), "dpress_rows"), exp.alias_(present, "dpress_present"))
    return Statements(
        numbers=numbers.from_(relation.source).sql(dialect=relation.dialect), names=names.sql(dialect=relation.dialect)
    )


def _name(column: Column, other: exp.Expr) -> exp.Expr:
    """Return the name of a value, compared by bytes; NULL for what is none."""
    name = column.value if column.kind == TEXT else exp.cast(column.value, "text")
    length = exp.Anonymous(this="strlen" if column.dialect == "duckdb" else "octet_length", expressions=[name.copy()])
    fits = exp.and_(length > whole(0), length.copy() <= whole(LONGEST_NAME), name.copy().neq(other))
    return exp.case().when(fits, name)
