"""Values and cells of one column of a table that a text names."""

import msgspec

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.data.codec import codec
from dpress.data.table import Table


def values(data, column="x"):
    return [one for batch in Table(data, (column,), ROW).batches() for one in batch[column].to_pylist()]


def listed(*own):
    return {"kind": "categorical", "values": own, "other": "o"}


def cells(data, attribute):
    own = msgspec.convert({"name": "x", "null": "none", **attribute}, Attribute)
    parts = [codec.encode(Schema((own,)), batch) for batch in Table(data, ("x",), ROW).batches()]
    return [int(one) for part in parts for one in part[0]]
