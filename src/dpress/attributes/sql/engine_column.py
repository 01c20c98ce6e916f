"""A column as an engine declares it: which Arrow type has the same values, and its constants in SQL.

Everything here is public: the dialect, the name, the declared type. No row decides what SQL is written.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
from sqlglot import exp

Dialect = Literal["duckdb", "postgres", "spark"]

INTEGER_128 = pa.decimal256(39, 0)  # Arrow has none of 128 bits; equal for every value that either holds
TEXT = pa.large_string()
KINDS: dict[Dialect, dict[str, pa.DataType]] = {
    "duckdb": {
        "BOOLEAN": pa.bool_(),
        "TINYINT": pa.int8(),
        "SMALLINT": pa.int16(),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "UTINYINT": pa.uint8(),
        "USMALLINT": pa.uint16(),
        "UINTEGER": pa.uint32(),
        "UBIGINT": pa.uint64(),
        "HUGEINT": INTEGER_128,
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "VARCHAR": TEXT,
        "ENUM": TEXT,
        "UUID": TEXT,
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp("us"),
        "TIMESTAMP_S": pa.timestamp("s"),
        "TIMESTAMP_MS": pa.timestamp("ms"),
        "TIMESTAMP_NS": pa.timestamp("ns"),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
    },
    "postgres": {
        "boolean": pa.bool_(),
        "smallint": pa.int16(),
        "integer": pa.int32(),
        "bigint": pa.int64(),
        "real": pa.float32(),
        "double precision": pa.float64(),
        "text": TEXT,
        "citext": TEXT,
        "character varying": TEXT,
        "character": TEXT,
        "uuid": TEXT,
        "date": pa.date32(),
        "timestamp without time zone": pa.timestamp("us"),
        "timestamp with time zone": pa.timestamp("us", "UTC"),
    },
    "spark": {
        "boolean": pa.bool_(),
        "tinyint": pa.int8(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": TEXT,
        "char": TEXT,
        "varchar": TEXT,
        "date": pa.date32(),
        "timestamp_ntz": pa.timestamp("us"),
        "timestamp": pa.timestamp("us", "UTC"),
    },
}
ARGUMENTS = re.compile(r"\s*\(.*\)")
COLLATION = re.compile(r" collate \w+")
DECIMAL = re.compile(r"(?:DECIMAL|decimal|numeric)\((\d+),\s*(\d+)\)")
MOST_DIGITS = 76
SPELLED: dict[Dialect, re.Pattern[str]] = {  # characters whose spelling in a literal depends on a session's settings
    "duckdb": re.compile(r"\x00"),
    "postgres": re.compile(r"\\"),
    "spark": re.compile(r"[\x00-\x1f\\']"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an engine.

    Args:
        name: of the column.
        declared: its type as the engine names it: `DESCRIBE` of DuckDB, `format_type` of PostgreSQL, `simpleString` of
            a field in Spark.
        dialect: the engine's SQL.
    """

    name: str
    declared: str
    dialect: Dialect

    @property
    def base(self) -> str:
        """The declared type without arguments and collation."""
        return COLLATION.sub("", ARGUMENTS.sub("", self.declared))

    @property
    def kind(self) -> pa.DataType | None:
        """The Arrow type that holds the same values, None where SQL does not code this type."""
        if match := DECIMAL.fullmatch(self.declared):
            precision, scale = map(int, match.groups())
            return pa.decimal256(precision, scale) if scale <= precision <= MOST_DIGITS else None
        return KINDS[self.dialect].get(self.base)

    @property
    def raw(self) -> exp.Expr:
        """The column as it stands."""
        return exp.column(self.name, quoted=True)

    @property
    def value(self) -> exp.Expr:
        """The column as rows are read: text by bytes whatever its collation, in the form that a cast to text gives.

        PostgreSQL thereby has no trailing blanks in `character(n)`. DuckDB has no collation to cast to, and what
        compares must do so by bytes.
        """
        if self.kind != TEXT:
            return self.raw
        if self.dialect == "spark":
            return exp.Collate(this=self.raw, expression=exp.Var(this="UTF8_BINARY"))
        if self.dialect == "duckdb":
            return self.raw if self.declared == "VARCHAR" else exp.cast(self.raw, "text")
        return exp.Collate(this=exp.cast(self.raw, "text"), expression=exp.to_identifier("C", quoted=True))

    @property
    def missing(self) -> exp.Expr:
        """Whether the value is missing; asked first, as every other comparison may be unknown."""
        null = self.raw.is_(exp.null())
        if self.maybe_nan:
            return exp.or_(null, self.nan)
        if pa.types.is_temporal(self.kind) and self.dialect != "spark":  # an infinite time is none
            return exp.or_(null, exp.not_(exp.Anonymous(this="isfinite", expressions=[self.raw])))
        if pa.types.is_decimal(self.kind) and self.dialect == "postgres":
            return exp.or_(null, self.raw.eq(self.constant("NaN")))
        return null

    @property
    def maybe_nan(self) -> bool:
        """Whether a value may be a float that is no number."""
        return self.kind is not None and bool(pa.types.is_floating(self.kind))

    @property
    def nan(self) -> exp.Expr:
        """Whether a float is no number.

        DuckDB decides comparisons beforehand by the least and the largest value that a Parquet file states, which leave
        NaN out; of a function it does not.
        """
        if self.dialect != "duckdb":
            return self.raw > exp.cast(exp.Literal.string("Infinity"), self.type)
        names = ("isfinite", "isinf")
        return exp.and_(*(exp.not_(exp.Anonymous(this=name, expressions=[self.raw])) for name in names))

    @property
    def type(self) -> exp.DataType:
        """The type that constants are cast to, so that they are compared as the column's own values are."""
        times = pa.types.is_timestamp(self.kind)  # a constant must not be rounded to a column's few digits
        name = self.base if times or self.kind == TEXT else self.declared
        return exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=name)

    def constant(self, written: str) -> exp.Expr:
        """Return the column's value that is written so."""
        return exp.cast(exp.Literal.string(written), self.type)

    def written(self, value: Any) -> str | None:
        """Return how a value of the column's Arrow type is written, None where no engine reads it."""
        if not pa.types.is_temporal(self.kind):
            return str(value)
        year = int(str(value.astype("datetime64[Y]")))
        zone = "+00:00" if getattr(self.kind, "tz", None) else ""
        return str(value).replace("T", " ") + zone if 1 <= year <= 9999 else None


def text(content: str, dialect: Dialect) -> exp.Expr | None:
    """Return a text in SQL that reads the same under every setting of a session, None where the engine has no such."""
    if dialect != "spark" and "\x00" in content:
        return None
    if not SPELLED[dialect].search(content):
        return exp.Literal.string(content)
    plain = content.encode().hex()
    if dialect == "spark":
        return exp.cast(exp.HexString(this=plain), "text")
    decoded = exp.Anonymous(this="decode", expressions=[exp.Literal.string(plain), exp.Literal.string("hex")])
    return exp.Anonymous(this="convert_from", expressions=[decoded, exp.Literal.string("UTF8")])


def number(value: float) -> exp.Expr:
    """Return a 64-bit float in SQL: the nearest to its shortest decimal, which is itself."""
    return exp.cast(exp.Literal.string(repr(float(value))), "double")


def whole(value: int) -> exp.Expr:
    """Return an integer in SQL."""
    return exp.Literal.number(value) if value >= 0 else exp.paren(exp.Neg(this=exp.Literal.number(-value)))
