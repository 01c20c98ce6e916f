"""How much memory a release takes until it is written, by its plan, and the refusal of more than is free.

design, rows -> numbers that are held at once, rows that are read and written at once -> bytes.
"""

from dpress import catalog
from dpress.core.basics.free_memory import check_memory
from dpress.core.methods.mechanism import CuratorMechanism
from dpress.core.reports.pieces import THREADS
from dpress.data.sources.open_source import Rows
from dpress.data.sources.source import BATCH_ROWS
from dpress.document.design import Design
from dpress.query.published_tables import BATCH_CELLS

START = 256 << 20  # bytes: the libraries that counting, drawing and writing load, and what compiles them the first time
PER_NUMBER = 8
PER_VALUE = 16  # of a row that is read: as Arrow has it, and its code
PER_PERSON_ROW = 160  # of a row whose person keeps a bounded number: whose it is, and whether it stays
PER_JOINED_ROW = 160  # of a row that is joined: its key of some 70 signs, its places and its rank, beside its values
PER_LINE = 160  # of a row that is written: its numbers
PER_LABEL = 48  # and each of its labels and ends
LABELS = 4  # attributes of a table, of as many cells as are written at once
PER_NUMBER_OF_LINE = 8  # numbers that are held, at least, for every row that is written


def bytes_needed(design: Design, mechanism: CuratorMechanism, rows: int, *, csv: bool = False, joined: int = 0) -> int:
    """Return how many bytes publishing takes at most beside what the process has before.

    Args:
        design: what is published.
        mechanism: that the design describes.
        rows: about how many rows the table has.
        csv: whether tables are also written as CSV.
        joined: rows of two tables that are held to be joined.
    """
    held, attributes = mechanism.numbers_held(rows), len(design.schema.tabular)
    lines = min(BATCH_CELLS, held // PER_NUMBER_OF_LINE)
    line = (PER_LINE + PER_LABEL * min(attributes, LABELS)) * (2 if csv else 1)
    persons = 0 if mechanism.claim.unit.column is None else PER_PERSON_ROW * rows
    reading = PER_VALUE * min(rows, THREADS * BATCH_ROWS) * attributes
    tables = joined * (PER_JOINED_ROW + PER_VALUE * attributes)
    return START + PER_NUMBER * held + line * lines + reading + persons + tables


def check_needed(design: Design, mechanism: CuratorMechanism, rows: Rows, *, csv: bool) -> None:
    """Refuse, before anything is read or charged, what takes more memory than is free.

    Raises:
        NotSupported: it does; with both figures, and what would make it smaller.
        OSError: the rows cannot be read.
    """
    stated = rows.source.row_count()
    users, joined = design.prediction.users if stated is None else stated, rows.source.rows_held()
    needed = bytes_needed(design, mechanism, users, csv=csv, joined=joined)
    what = f"{design.release['kind']} by {design.method}"
    check_memory(needed, what, f"{catalog.kinds()[design.kind].smaller} (nothing was read or charged)")
