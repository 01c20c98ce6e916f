"""What rounds would find of strings, for whoever holds the rows, before anybody is asked. Exact: never private.

rows -> strings that fit and those that do not, by reason -> how many strings enough people hold.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from dpress.attributes.text.arrow import rows as bytes_of
from dpress.core.basics.claim import ROW
from dpress.data.codec.codec import texts_of
from dpress.data.count_names import name_counts
from dpress.data.table import Table
from dpress.kinds.strings.answers import pem_of
from dpress.release.truth.discovered_check import discovers
from dpress.release.truth.finding import CheckedRows, Checking, Finding


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


def findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what becomes of strings; nothing where devices are asked for none.

    Raises:
        OSError, SchemaMismatch: see `name_counts`.
    """
    if rows.spec.privacy.model != "local" or not discovers(rows):
        return {}
    check = _checked(rows)
    return {"strings": Finding(figures=check, lines=(_lines(check),))}


def _checked(rows: CheckedRows) -> StringsCheck:
    pem, (attribute,), beside = pem_of(rows.mechanism), rows.spec.schema.attributes, Counter[str]()
    for batch in Table(rows.source, attribute.columns, ROW).batches():
        texts = texts_of(attribute.columns[0], batch)
        missing = np.asarray(texts.is_null())
        sizes = np.asarray(pc.fill_null(pc.binary_length(texts), 0))
        unfit = ~bytes_of(texts, pem.longest).any(axis=1) & ~missing
        long, empty = sizes > pem.longest, (sizes == 0) & ~missing
        faults = {
            "missing or not in UTF-8": missing,
            "empty": empty,
            "too long": long,
            "with a zero character": unfit & ~long & ~empty,
        }
        beside.update({reason: int(where.sum()) for reason, where in faults.items()})
    names = name_counts(attribute, rows.source, ROW, progress=rows.progress)
    enough = pem.count_for(0.5, rows.design.prediction.users)
    fit = [len(name.encode()) <= pem.longest for name in names.names]
    return StringsCheck(
        attribute=attribute.name,
        longest=pem.longest,
        strings=len(names.names),
        enough=enough,
        found=int((names.counts >= enough)[fit].sum()) if fit else 0,
        beside={reason: count for reason, count in beside.items() if count},
    )


def _lines(check: StringsCheck) -> list[str]:
    much = f"{check.attribute}: {check.strings:,} different strings; {check.found:,} have {check.enough:,} people"
    beside = [f"  {count:,} {reason}: they count with the rest" for reason, count in sorted(check.beside.items())]
    return [f"{much}, with which one is found with a chance of 50 %", *beside]


CHECKING = Checking(findings=findings)
