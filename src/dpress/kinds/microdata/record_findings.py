"""What is seen in records, and how sure that is, in sentences: records, their cells, their likely error -> text."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.attribute import Tabular
from dpress.core.methods.people import Codes
from dpress.kinds.microdata.likely_pairs import LikelyPairs
from dpress.reporting.rounding import number

MOST_ATTRIBUTES = 3  # that the sentence is about


def seen(table: pa.Table, attributes: Sequence[Tabular], codes: Codes) -> str:
    """Return the medians and the most frequent values of the first attributes; empty without records.

    Args:
        table: the records in the attributes' own values.
        attributes: of its columns.
        codes: their cells, shape (attributes, records).
    """
    if not table.num_rows:
        return ""
    columns = zip(attributes, table.columns, codes, strict=True)
    parts = [_of_attribute(*each) for each, _ in zip(columns, range(MOST_ATTRIBUTES), strict=False)]
    return f"In them {'; '.join(filter(None, parts))}." if any(parts) else ""


def _of_attribute(attribute: Tabular, column: pa.ChunkedArray, cells: Codes) -> str:
    title = attribute.title or attribute.name
    if attribute.numbers is None:
        place, size = int(np.argmax(counts := np.bincount(cells, minlength=attribute.size))), len(cells)
        return f"{title} is most often {attribute.captions[place]}, {number(100 * counts[place] / size)} %"
    median = pc.quantile(column.drop_null(), 0.5, interpolation="lower")[0].as_py()
    unit = f" {attribute.unit}" if attribute.unit else ""
    return "" if median is None else f"the median of {title} is {median:,.6g}{unit}"


def sureness(likely: LikelyPairs | None) -> str:
    """Return how far the records' tables are likely to be from those of the rows; that nobody knows, without that."""
    if likely is None:
        return "How far tables of these records are from those of the rows is not known."
    hides = "" if likely.says else ", which hides what attributes usually have to do with each other"
    share = f"{100 * likely.error:.2g} of 100 records"
    return f"In a table of any two attributes {share} are likely to be out of place{hides}."
