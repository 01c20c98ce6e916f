"""Synthetic records of a release that is already published: post-processing, which costs no privacy.

release -> what it publishes to draw from, or the joint distribution that its tables give -> records -> a file.
"""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.new_path import new_file, written_whole
from dpress.core.basics.rng import secure
from dpress.inference.joint.factors import Joint, dense
from dpress.inference.joint.pair_tables import LevelNoise, NoisyTable, Tables
from dpress.query.folder import as_csv, as_written, writer
from dpress.query.labelled_files import FORMATS
from dpress.query.measured_joint import joint_of_tables, measured_joint
from dpress.query.record_source import RecordSource, of_joint, shares_of
from dpress.query.release import Release
from dpress.query.table_answers import TableAnswers

MOST_CELLS = 1 << 22
TOGETHER = " A row has a household with everybody in it; a name without an ending makes a folder of both tables."


def write_records(
    release: Release, size: int, out: str | Path, *, where: str = "", remark: Callable[[str], object] | None = None
) -> Path:
    """Write so many records that are drawn from a release to a new file, and return its path.

    Of records of two tables a row has a household with everybody in it; `write_tables` writes both.

    Args:
        release: a joint distribution, records, a map, regions, names, marginal tables that hold every attribute, or a
            table of all of them.
        size: how many records, 1 or more.
        out: the new file, of Parquet, CSV, Stata, SPSS or Excel by its ending; the last three with labels.
        where: a condition that all of them fulfil, as of a query; they are drawn given that it holds, exactly.
        remark: called with a sentence on what the records are, where they are no draws from a distribution.

    Raises:
        NotSupported: nothing can be drawn from the release, or what writes the file is not installed.
        ValueError: the size is no number of records, the file has another ending, or the condition cannot be read, or
            holds of no record of the model.
        OSError: the file exists, or cannot be written.
    """
    check.count("records", size)
    place = Path(out)
    if place.suffix not in (".parquet", ".csv", *FORMATS):
        raise _expected_file(place)
    new_file(place, "records are")
    source = record_source(release, where)
    with written_whole(place) as partial:
        FORMATS.get(place.suffix, _write)(partial, source.batches(size, rng=secure()), source.columns)
    if remark is not None and source.note:
        remark(source.note + (TOGETHER if source.tables is not None else ""))
    return place


def write_tables(
    release: Release,
    size: int,
    out: str | Path,
    *,
    where: str = "",
    csv: bool = False,
    remark: Callable[[str], object] | None = None,
) -> Path:
    """Write so many records of two tables to a new folder, and return it: a file of each, with keys that match.

    Args:
        release: records of two tables.
        size: how many rows of the table above, 1 or more; everybody below comes with them.
        out: the new folder.
        where: a condition that all rows above fulfil; see `write_records`.
        csv: whether both are written as CSV, too.
        remark: called with a sentence on what the records are.

    Raises:
        ValueError: the release is of one table, or see `write_records`.
        OSError: the folder exists, or cannot be written; nothing is left behind.
    """
    check.count("records", size)
    if Path(out).suffix:
        raise ValueError(f"{out}: expected a folder, without an ending; both tables are files in it")
    source, folder = release.answers.record_source(where), new_file(out, "records are")
    if source is None or source.tables is None:
        raise _expected_file(folder)
    with written_whole(folder) as partial:
        partial.mkdir()
        with contextlib.ExitStack() as stack:
            writers = dict[Path, Any]()
            for name, batch in source.batches_of_tables(size, rng=secure()):
                for path in (partial / name, *((partial / as_csv(name),) if csv else ())):
                    if path not in writers:
                        writers[path] = stack.enter_context(writer(path, batch))
                    writers[path].write_batch(as_written(path, batch))
    if remark is not None:
        remark(source.note)
    return folder


def _expected_file(place: Path) -> ValueError:
    endings = f".parquet, .csv, {', '.join(FORMATS)}"
    return ValueError(f"{place}: expected a file that ends in {endings}; a folder is for records of two tables")


def record_source(release: Release, where: str = "") -> RecordSource:
    """Return what records of a release are drawn from; see `write_records`."""
    source = release.answers.record_source(where)
    return of_joint(release.schema, model(release), where) if source is None else source


def _write(place: Path, batches: Iterable[pa.RecordBatch], _: object) -> None:
    """Write records to a file of Parquet or CSV, batch by batch."""
    following = iter(batches)
    first = next(following)
    with writer(place, first) as file:
        for batch in itertools.chain([first], following):
            file.write_batch(as_written(place, batch))


def model(release: Release) -> Joint:
    """Return the joint distribution that records are drawn from.

    The fitted one of a joint distribution; of a curator's tables that hold every attribute that of the largest
    entropy, or of latent classes where it is wide; of one table of all attributes its own shares, made >= 0.

    Raises:
        NotSupported: the release has none.
    """
    if (fitted := release.answers.fitted) is not None:
        return fitted
    if (evidence := measured_joint(release.mechanism, release.kept)) is not None:
        return evidence.fit()
    answers, shape = release.answers.by_tables, release.schema.shape
    if answers is None:
        raise _refused(release)
    tables = answers.decoder.tables
    if tables == (tuple(range(len(shape))),) and math.prod(shape) <= MOST_CELLS:
        (counts,) = answers.decoder.estimate(answers.measurement)
        return dense(shares_of(counts.reshape(shape)))
    if release.design.local or {axis for axes in tables for axis in axes} != set(range(len(shape))):
        raise _refused(release)
    return _of_tables(answers, shape)


def _of_tables(answers: TableAnswers, shape: tuple[int, ...]) -> Joint:
    """Return the joint of the published tables; see `joint_of_tables`."""
    decoder, measured = answers.decoder, answers.measurement
    rows = max(1.0, decoder.answer(measured, [np.ones(size) for size in shape]))
    triples = zip(decoder.tables, decoder.estimate(measured), decoder.cell_variances(measured.variance), strict=True)
    noisy = []
    for axes, counts, spread in triples:
        shares = counts.reshape([shape[axis] for axis in axes]).transpose(np.argsort(axes)) / rows
        noise = LevelNoise(each=float(np.mean(spread)) / rows**2)
        noisy.append(NoisyTable(axes=tuple(sorted(axes)), shares=shares, noise=noise))
    return joint_of_tables(Tables(shape=shape, noisy=tuple(noisy)), max(map(len, decoder.tables)))


def _refused(release: Release) -> NotSupported:
    return NotSupported(
        f"a release of kind {release.kind!r} by {release.method!r} has {release.answers.undrawn} "
        "to draw records from: microdata, joints, maps, names and regions have one, and so have a curator's tables "
        f"that hold every attribute, and one table of all of them, of at most {MOST_CELLS:,} cells"
    )
