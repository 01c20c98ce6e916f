"""Rows with the codes that SQL gives, and raw columns where the codec is to read them.

relation, schema -> `SELECT` of codes and raw columns -> batches -> the codes of all attributes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from dpress.attributes.domain import Schema
from dpress.attributes.policy import DROPPED
from dpress.attributes.sql.engine_column import TEXT, Column, Dialect
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources.source import NO_SQL, Source, check_columns
from dpress.data.sql.code_expression import code_expression

NAME = "dpress_{}"  # of an attribute's code


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Rows that an engine holds.

    Args:
        query: a query in the engine's SQL, written by dpress: it stands in others as it is.
        declared: the type of every column, as `Column` takes it.
        dialect: the engine's SQL.
    """

    query: str
    declared: Mapping[str, str]
    dialect: Dialect

    @property
    def source(self) -> exp.Expr:
        """The rows, as they stand after FROM."""
        return exp.Subquery(this=exp.Var(this=self.query), alias=exp.TableAlias(this=exp.to_identifier("dpress_rows")))

    def column(self, name: str) -> Column:
        """Return a column.

        Raises:
            SchemaMismatch: there is none of that name.
        """
        if name not in self.declared:
            raise SchemaMismatch(f"attribute {name}: the data has no column {name!r}")
        return Column(name, self.declared[name], self.dialect)


def relation_of(source: Source) -> Relation:
    """Return a source's rows as an engine names them.

    Raises:
        NotSupported: no engine of SQL reads them.
        OSError, SchemaMismatch: the engine cannot say what they are.
    """
    if source.dialect is None:
        raise NotSupported(NO_SQL.format(source.name))
    return Relation(query=f"SELECT * FROM {source.relation}", declared=source.types(), dialect=source.dialect)  # noqa: S608


def check_wanted(source: Source, relation: Relation, wanted: Sequence[str]) -> None:
    """Refuse columns that an engine does not have, or of which it would choose one.

    Args:
        source: of the rows.
        relation: as the engine names them.
        wanted: the columns that are needed.

    Raises:
        SchemaMismatch: a column is missing, or there are several of its name.
    """
    folds = source.dialect != "postgres"  # which compares names sign by sign, and has each once
    check_columns(source.name, wanted, source.columns() if folds else list(relation.declared), folds=folds)


def code_expressions(schema: Schema, relation: Relation) -> dict[str, exp.Expr]:
    """Return the SQL of the codes of those attributes that the engine codes as the codec does, by name."""
    pairs = ((axis.name, code_expression(axis, relation.column(axis.read_from))) for axis in schema.tabular)
    return {name: code for name, code in pairs if code is not None}


INTEGER: dict[Dialect, str] = {"duckdb": "INTEGER", "postgres": "integer", "spark": "int"}


def coded(source: Source, schema: Schema) -> Source:
    """Return the rows of a source with one column for every attribute: its code, or what the codec is to read.

    Args:
        source: of the rows.
        schema: of tabular attributes.
    """
    relation = relation_of(source)
    codes = code_expressions(schema, relation)
    read = {axis.read_from: relation.declared[axis.read_from] for axis in schema.tabular if axis.name not in codes}
    places = (place for place, name in enumerate(schema.names) if name in codes)
    kinds = {NAME.format(place): INTEGER[relation.dialect] for place in places} | read
    return source.queried(coded_select(schema, relation), kinds)


def coded_select(schema: Schema, relation: Relation) -> str:
    """Return a query of one column for every attribute: a code as a 32-bit integer, or the column as it is read.

    Args:
        schema: of tabular attributes.
        relation: the rows.
    """
    selected = [exp.alias_(value, name, quoted=True) for name, value in coded_columns(schema, relation).items()]
    return exp.select(*selected).from_(relation.source).sql(dialect=relation.dialect)


def coded_columns(schema: Schema, relation: Relation) -> dict[str, exp.Expr]:
    """Return the columns of `coded_select` by name."""
    codes = code_expressions(schema, relation)
    read = {
        axis.read_from: _as_read(relation.column(axis.read_from)) for axis in schema.tabular if axis.name not in codes
    }
    places = ((place, name) for place, name in enumerate(schema.names) if name in codes)
    return {NAME.format(place): exp.cast(codes[name], "int") for place, name in places} | read


def encode_coded(schema: Schema, batch: pa.RecordBatch) -> codec.Codes:
    """Return the cell of every kept row along every axis, as `codec.encode` does, from a batch of `coded_select`.

    Raises:
        SchemaMismatch: see `codec.encode`.
    """
    codes = all_codes(schema, batch)
    keep = (codes != DROPPED).all(axis=0)
    return codes if keep.all() else codes[:, keep]


def all_codes(schema: Schema, batch: pa.RecordBatch) -> codec.Codes:
    """Return the cell of every row along every axis, DROPPED where the specification leaves it out.

    Raises:
        SchemaMismatch: see `codec.encode`.
    """
    present = set(batch.schema.names)
    columns = [
        _settled(schema, place, batch.column(NAME.format(place)))
        if NAME.format(place) in present
        else codec.encode_all(schema.subset([name]), batch)[0][0]
        for place, name in enumerate(schema.names)
    ]
    return np.stack(columns)


def _as_read(column: Column) -> exp.Expr:
    """Return a raw column, of text in the form that a cast to text gives."""
    return exp.cast(column.raw, "text") if column.kind == TEXT else column.raw


def _settled(schema: Schema, place: int, column: pa.Array) -> npt.NDArray[np.int32]:
    """Return codes, refusing those that the specification rejects."""
    codes = np.asarray(column.cast(pa.int32()))
    refuse(schema, place, int(codes.min(initial=0)))
    return codes


def refuse(schema: Schema, place: int, lowest: int) -> None:
    """Raise what the specification says of an attribute's lowest code, if it rejects that.

    Raises:
        SchemaMismatch: it does.
    """
    if lowest < DROPPED:
        schema.tabular[place].settled(lowest)
