"""The device side of a collection over a file of people, for simulation: values to reports."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.attributes.domain import Schema
from dpress.core.basics import rng as generators
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import Generator
from dpress.core.reports.wire import ID_BYTES
from dpress.data.add_up import Progress
from dpress.data.codec.codec import encode, encode_all, numbers_of
from dpress.data.reports import report_writer
from dpress.data.reports.report_batch import Batch, Ids
from dpress.data.sources.source import without_quotes
from dpress.data.specification.spec import Asked
from dpress.data.table import Table
from dpress.document.design import Design
from dpress.mechanisms.protocol.collection import Collection, TypeNumbers
from dpress.mechanisms.protocol.report_type import Statement
from dpress.query.designs import collection_of, expected
from dpress.release.devices.tallies import LARGEST_PART
from dpress.release.devices.user_groups import drawing, user_groups
from dpress.release.plan.plan import Plan, design_of, understood
from dpress.release.source_rows import rows_of, source_of

Draw = Callable[[int, Generator], TypeNumbers]


def perturb(
    asked: Asked | Plan | Design,
    data: Any = None,
    *,
    out: str | Path,
    stated: Mapping[str, str] | None = None,
    allow_unproven: bool = False,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> int:
    """Simulate the devices of a collection: one report for every row; return the number of reports.

    Where a collection has rounds, the rows are devices that draw one round each, and those of this round report.

    Every row is perturbed by itself, with coins of its own, as its owner's device would; only the reports are written.

    Args:
        asked: the design of a collection; or what is wanted, which is planned on the spot: a plan, a specification, its
            file, its TOML text, or plain objects.
        data: a file, a folder, a glob, `DATABASE#TABLE`, or a table in Python, a person a row; left out, the
            specification's source.
        out: a new file of reports.
        stated: where users state choices of their own, the columns that hold them, by the name of the choice:
            `region_level` and `epsilon` of `psda`. What is left out is drawn at random.
        allow_unproven: also run a method whose published claim has no proof.
        rng: left out, a secure generator; a seeded one protects nobody.
        progress: called with the number of rows done so far.

    Raises:
        NotSupported: it is no collection, its method is unproven, or its users state nothing of their own.
        SchemaMismatch: the data does not fit the design.
        OSError: the data cannot be read or the reports not written; nothing is left behind.

    >>> import dpress, pyarrow as pa, tempfile
    >>> place = {"name": "place", "kind": "categorical", "values": ["town", "country"]}
    >>> privacy, release = {"model": "local", "epsilon": 2}, {"kind": "histogram"}
    >>> spec = dpress.load_spec({"attribute": [place], "privacy": privacy, "release": release})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dpress.perturb(spec, pa.table({"place": ["town"] * 50}), out=f"{folder}/reports.parquet")
    50
    """
    asked = understood(asked)
    design = design_of(asked)
    collection = collection_of(design, allow_unproven=allow_unproven)
    source = rows_of(design, source_of(asked, data))
    generator = generators.or_secure(rng)
    described, groups = expected(design, collection), user_groups(design)
    columns = dict(stated or {})
    if columns:
        for oracle in (oracle for report_type in collection.types for oracle in report_type.oracles):
            oracle.claim_stated({})  # or it is refused before a row is read
    names = (*design.schema.columns, *columns.values())
    table = Table(source, names, ROW)
    draw = _drawing(collection) if groups is None else drawing(groups)
    batches = _reports(collection, _people(table, design.schema, columns), draw, generator, progress)
    return report_writer.write(Path(out), batches, expected=described, private=generator.private)


@dataclass(frozen=True, slots=True)
class _People:
    """Some of the kept rows of a batch, who all state the same.

    Args:
        rows: of the batch, for its first people; 0 for others, so that rows are counted once.
        codes: shape (attributes, people).
        stated: by them; None where users state nothing.
    """

    rows: int
    codes: npt.NDArray[np.int32]
    stated: Statement | None = None


def _people(table: Table, schema: Schema, columns: Mapping[str, str]) -> Iterator[_People]:
    """Yield the rows that are kept, batch by batch; people who state the same together."""
    for batch in table.batches():
        if not columns:
            yield _People(batch.num_rows, without_quotes(table.name, partial(encode, schema, batch)))
            continue
        codes, keep = without_quotes(table.name, partial(encode_all, schema, batch))
        numbers = [without_quotes(table.name, partial(numbers_of, column, batch)) for column in columns.values()]
        choices = np.stack(numbers)[:, keep]
        if np.isnan(choices).any():
            raise SchemaMismatch(f"{table.name}: a row has no number in {' or '.join(columns.values())}")
        rows, kept = batch.num_rows, codes[:, keep]
        for choice in np.unique(choices, axis=1).T:
            same = (choices == choice[:, None]).all(axis=0)
            yield _People(rows, kept[:, same], dict(zip(columns, choice.tolist(), strict=True)))
            rows = 0


def _drawing(collection: Collection) -> Draw:
    """Return how devices draw their report types where every one of them reports."""
    return lambda devices, rng: collection.drawn(devices, rng=rng)


def _reports(
    collection: Collection,
    batches: Iterator[_People],
    draw: Draw,
    rng: Generator,
    progress: Progress | None,
) -> Iterator[tuple[Batch, Ids]]:
    done = 0
    for people in batches:
        codes = people.codes
        drawn = draw(codes.shape[1], rng)
        for number, report_type in enumerate(collection.types):
            mine = drawn == number
            mine_only = codes if mine.all() else codes[:, mine]
            part = max(1, LARGEST_PART // report_type.width)
            for start in range(0, mine_only.shape[1], part):
                payloads = report_type.perturb(mine_only[:, start : start + part], rng=rng, stated=people.stated)
                ids = rng.words(2 * len(payloads)).view(np.dtype((np.void, ID_BYTES)))
                yield Batch(report_type=number, payloads=payloads), ids
        done += people.rows
        if progress is not None:
            progress(done)
