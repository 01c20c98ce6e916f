"""Columns of one type in three engines, what SQL codes them as, and what the codec codes the values read back as."""

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.attributes.sql.engine_column import Column
from dpress.data.codec import codec
from dpress.data.sources.spark_failure import collected
from dpress.data.sources.spark_frame import understood
from dpress.data.sql.code_expression import code_expression, settled
from dpress.data.sql.coded_rows import Relation


class DuckDB:
    dialect = "duckdb"

    def __init__(self, connection):
        self.run = connection.sql

    def table(self, texts, declared, collation=""):
        """Make a table of one column `x` of what texts are cast to."""
        strings = pa.table({"v": pa.array(texts, pa.string())})  # noqa: F841  # DuckDB finds it by its name
        self.run("DROP TABLE IF EXISTS nasty")
        self.run(f"CREATE TABLE nasty (x {declared} {collation})")
        self.run(f"INSERT INTO nasty SELECT CAST(v AS {declared}) FROM strings")  # ours
        return Relation(query="SELECT * FROM nasty", declared={"x": declared}, dialect="duckdb")

    def make(self, people):
        """Make the table `people` of an Arrow table, which DuckDB finds by its name."""
        held = people  # noqa: F841
        self.run("CREATE TABLE people AS FROM held")

    def arrow(self, sql):
        return self.run(sql).to_arrow_table()

    def read(self, column):
        return "CAST(x AS TEXT)" if column.declared.endswith("HUGEINT") else "x"


class Postgres:
    dialect = "postgres"

    def __init__(self, connection):
        self.connection = connection

    def table(self, texts, declared, collation=""):
        self.connection.execute("DROP TABLE IF EXISTS nasty")
        self.connection.execute(f"CREATE TABLE nasty (x {declared} {collation})")
        with self.connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO nasty SELECT CAST(%s::text AS {declared})", [(one,) for one in texts])
        query = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'nasty'::regclass"
        kind = self.connection.execute(f"{query} AND attname = 'x'").fetchone()[0]
        return Relation(query="SELECT * FROM nasty", declared={"x": kind}, dialect="postgres")

    def arrow(self, sql):
        found = self.connection.execute(sql, binary=True)  # whatever the session says of texts
        names = [one.name for one in found.description]
        rows = found.fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return pa.table({name: own(column) for name, column in zip(names, columns, strict=True)})

    def read(self, column):
        return "CAST(x AS TEXT)" if column.kind == pa.large_string() else "x"


class Spark:
    dialect = "spark"

    def __init__(self, session):
        self.session = session

    def table(self, texts, declared, collation=""):
        strings = self.session.createDataFrame([(one,) for one in texts], "v string")
        frame = strings.coalesce(1).selectExpr(f"CAST(v AS {declared}){collation} AS x").cache()
        frame.createOrReplaceTempView("nasty")
        kind = frame.schema["x"].dataType.simpleString()
        return Relation(query="SELECT * FROM nasty", declared={"x": kind}, dialect="spark")

    def arrow(self, sql):
        return collected("the test's rows", lambda: self.session.sql(understood(sql, self.session)))

    def read(self, _):
        return "x"


def own(values):
    """Return what a client returned as Arrow, each value by itself."""
    from dpress.attributes.arrow import objects

    if all(isinstance(one, int) and not isinstance(one, bool) for one in values):
        return pa.array(values, pa.int64())
    return objects.column(values)


def wanted(attribute, column):
    """Return the codec's code of every value, OUTSIDE or MISSING where it is rejected."""
    cells = codec.cells_of(attribute, pa.record_batch({attribute.name: column}))
    return [one if one >= 0 else settled(attribute, one) for one in cells.tolist()]


def shown(values):
    """Return values as Python has them; dates and time stamps, also those that it has not, as ticks."""
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values.to_pylist()


def differing(engine, relation, attributes):
    """Return (attribute, value, code by SQL, code by the codec) wherever they differ, and what SQL does not code."""
    column = Column("x", relation.declared["x"], relation.dialect)
    codes = {name: code_expression(attribute, column) for name, attribute in attributes.items()}
    by_sql = {name: code.sql(dialect=engine.dialect) for name, code in codes.items() if code is not None}
    selected = ", ".join([f"{engine.read(column)} AS dpress_x", *(f"{sql} AS {name}" for name, sql in by_sql.items())])
    found = engine.arrow(f"SELECT {selected} FROM ({relation.query}) AS r")  # ours
    values = found["dpress_x"].combine_chunks()
    if engine.read(column) != "x" and column.kind != pa.large_string():
        values = pa.array([None if one is None else int(one) for one in values.to_pylist()], pa.decimal256(39, 0))
    wrong = []
    for name in by_sql:
        right = wanted(attributes[name], values)
        pairs = zip(shown(values), found[name].to_pylist(), right, strict=True)
        wrong += [(name, value, got, want) for value, got, want in pairs if got != want]
    return wrong, set(codes) - set(by_sql)


def counted(schema: Schema, rows: pa.Table, tables):
    """Return the counts of tables as the fold makes them."""
    from dpress.data.fold import count

    parts = [codec.encode(schema, batch) for batch in rows.to_batches()]
    codes = np.concatenate(parts, axis=1)
    return count(schema.shape, tables)(codes)
