"""Which columns of a published table name a row, and which one measures it."""

from typing import NamedTuple

import pyarrow as pa


class Measured(NamedTuple):
    """Columns by name.

    Args:
        named: the texts that say what a row is about, in order: attributes, and `statistic` where there are several.
        value: the count, or the value of a statistic; beside it stand `low` and `high`.
    """

    named: list[str]
    value: str


def measured(schema: pa.Schema) -> Measured | None:
    """Return the columns of a table with intervals; None for records, which have none.

    >>> texts = [pa.field("age", pa.string()), pa.field("age_from", pa.int64())]
    >>> measured(pa.schema([*texts, pa.field("count", pa.float64()), pa.field("low", pa.float64())]))
    Measured(named=['age'], value='count')
    """
    value = next((name for name in ("count", "value") if name in schema.names), None)
    if value is None or "low" not in schema.names:
        return None
    before = schema.names[: schema.names.index(value)]
    return Measured([name for name in before if pa.types.is_string(schema.field(name).type)], value)
