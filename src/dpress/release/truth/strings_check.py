"""What rounds would find of strings, for whoever holds the rows, before anybody is asked. Exact: never private.

rows -> strings that fit and those that do not, by reason -> how many strings enough people hold.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.methods.mechanism import Mechanism
from dpress.data.add_up import Progress
from dpress.data.codec.codec import texts_of
from dpress.data.codec.strings import rows
from dpress.data.count_names import name_counts
from dpress.data.table import Table
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.strings.pem import Pem


@dataclass(frozen=True, slots=True, kw_only=True)
class StringsCheck:
    """What becomes of the strings of an attribute.

    Args:
        attribute: whose values are discovered.
        longest: the bytes of the longest string.
        strings: how many different ones there are.
        enough: from how many people on one is found with a chance of 50 %.
        found: how many different ones that many people have.
        beside: how many values count with the rest, by reason.
    """

    attribute: str
    longest: int
    strings: int
    enough: int
    found: int
    beside: dict[str, int]


def strings_check(
    mechanism: Mechanism, schema: Schema, source: Any, users: int, *, progress: Progress | None = None
) -> StringsCheck | None:
    """Return what becomes of strings; None where a mechanism asks about none.

    Args:
        mechanism: that was planned.
        schema: of the specification.
        source: the rows, as `open_source` takes or returns them.
        users: that it was planned for.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `name_counts`.
    """
    own = method_of(mechanism)
    if not isinstance(own, Pem):
        return None
    (attribute,), beside = schema.attributes, Counter[str]()
    for batch in Table(source, (attribute.name,), ROW).batches():
        texts = texts_of(attribute.name, batch)
        missing = np.asarray(texts.is_null())
        sizes = np.asarray(pc.fill_null(pc.binary_length(texts), 0))
        unfit = ~rows(texts, own.longest).any(axis=1) & ~missing
        long, empty = sizes > own.longest, (sizes == 0) & ~missing
        faults = {
            "missing or not in UTF-8": missing,
            "empty": empty,
            "too long": long,
            "with a zero character": unfit & ~long & ~empty,
        }
        beside.update({reason: int(where.sum()) for reason, where in faults.items()})
    names = name_counts(attribute, source, ROW, progress=progress)
    enough = own.count_for(0.5, users)
    fit = [len(one.encode()) <= own.longest for one in names.names]
    return StringsCheck(
        attribute=attribute.name,
        longest=own.longest,
        strings=len(names.names),
        enough=enough,
        found=int((names.counts >= enough)[fit].sum()) if fit else 0,
        beside={reason: count for reason, count in beside.items() if count},
    )
