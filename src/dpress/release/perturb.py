"""The device side of a collection over a file of people, for simulation: values to reports."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core import rng as generators
from dpress.core.claim import ROW
from dpress.core.design import Design
from dpress.core.domain import Schema
from dpress.core.rng import Generator
from dpress.core.wire import ID_BYTES
from dpress.data import reports as files
from dpress.data.codec import encode
from dpress.data.fold import Progress
from dpress.data.spec import Spec
from dpress.data.table import Table, without_quotes
from dpress.mechanisms.protocol.collection import Collection, TypeNumbers
from dpress.release.designs import collection_of, expected, rows_of
from dpress.release.plan import Plan, design_of
from dpress.release.publish import source_of
from dpress.release.tallies import LARGEST_PART
from dpress.release.user_groups import drawing, user_groups

Draw = Callable[[int, Generator], TypeNumbers]


def perturb(
    asked: Spec | Plan | Design,
    data: Any = None,
    *,
    out: str | Path,
    allow_unproven: bool = False,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> int:
    """Simulate the devices of a collection: one report for every row; return the number of reports.

    Where a collection has rounds, the rows are devices that draw one round each, and those of this round report.

    Every row is perturbed by itself, with coins of its own, as its owner's device would; only the reports are written.

    Args:
        asked: the design of a collection; or a specification, which is planned on the spot.
        data: a CSV or Parquet file, or a table, a person a row; left out, the specification's source.
        out: a new file of reports.
        allow_unproven: also run a method whose published claim has no proof.
        rng: left out, a secure generator; a seeded one protects nobody.
        progress: called with the number of rows done so far.

    Raises:
        NotSupported: it is no collection, or its method is unproven.
        SchemaMismatch: the data does not fit the design.
        OSError: the data cannot be read or the reports not written; nothing is left behind.
    """
    design = design_of(asked)
    collection = collection_of(design, allow_unproven=allow_unproven)
    source = rows_of(design, source_of(asked, data))
    generator = generators.secure() if rng is None else rng
    own, groups = expected(design, collection), user_groups(design)
    table = Table(source, design.schema.names, ROW, in_order=groups is not None)  # a row's number decides its round
    draw = _drawing(collection) if groups is None else drawing(groups)
    batches = _reports(collection, _codes(table, design.schema), draw, generator, progress)
    return files.write(Path(out), batches, expected=own, private=generator.private)


def _codes(table: Table, schema: Schema) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
    """Yield the number of rows of every batch, and the codes of the rows that are kept."""
    for batch in table.batches():
        yield batch.num_rows, without_quotes(table.name, partial(encode, schema, batch))


def _drawing(collection: Collection) -> Draw:
    """Return how devices draw their report types where every one of them reports."""
    return lambda devices, rng: collection.drawn(devices, rng=rng)


def _reports(
    collection: Collection,
    batches: Iterator[tuple[int, npt.NDArray[np.int32]]],
    draw: Draw,
    rng: Generator,
    progress: Progress | None,
) -> Iterator[tuple[files.Batch, files.Ids]]:
    done = 0
    for rows, codes in batches:
        drawn = draw(codes.shape[1], rng)
        for number, report_type in enumerate(collection.types):
            mine = drawn == number
            own = codes if mine.all() else codes[:, mine]
            part = max(1, LARGEST_PART // report_type.width)
            for start in range(0, own.shape[1], part):
                payloads = report_type.perturb(own[:, start : start + part], rng=rng)
                ids = rng.words(2 * len(payloads)).view(np.dtype((np.void, ID_BYTES)))
                yield files.Batch(report_type=number, payloads=payloads), ids
        done += rows
        if progress is not None:
            progress(done)
