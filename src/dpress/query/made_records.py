"""Synthetic records of a release that is already published: post-processing, which costs no privacy.

release -> the joint distribution that it publishes, or that its tables give -> records -> a file.
"""

import itertools
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.new_path import new_file
from dpress.core.basics.rng import secure
from dpress.inference.joint.factors import Boxes, Joint, dense
from dpress.inference.joint.pair_tables import LevelNoise, NoisyTable, Tables
from dpress.inference.postprocess import norm_sub
from dpress.query.boxes import products
from dpress.query.folder import as_written, writer
from dpress.query.labelled_files import FORMATS
from dpress.query.measured_joint import joint_of_tables, measured_joint
from dpress.query.record_files import Records
from dpress.query.release import Release
from dpress.query.table_answers import TableAnswers

MOST_CELLS = 1 << 22


def write_records(release: Release, size: int, out: str | Path, *, where: str = "") -> Path:
    """Write so many records of a release's model to a new file, and return its path.

    Args:
        release: a joint distribution, marginal tables that hold every attribute, or a table of all of them.
        size: how many records, 1 or more.
        out: the new file, of Parquet, CSV, Stata, SPSS or Excel by its ending; the last three with labels.
        where: a condition that all of them fulfil, as of a query; they are drawn given that it holds, exactly.

    Raises:
        NotSupported: the release has no joint distribution of its attributes, or what writes the file is not installed.
        ValueError: the size is no number of records, the file has another ending, or the condition cannot be read, or
            holds of no record of the model.
        OSError: the file exists, or cannot be written.
    """
    check.count("records", size)
    place = Path(out)
    if place.suffix not in (".parquet", ".csv", *FORMATS):
        raise ValueError(f"{place}: expected a file that ends in .parquet, .csv, {', '.join(FORMATS)}")
    new_file(place, "records are")
    joint = _where(model(release), release, where) if where else model(release)
    part = Records(axes=release.schema.tabular, joint=joint, size=size, rng=secure())
    try:
        FORMATS.get(place.suffix, _write)(place, part.batches(), part.axes)
    except (OSError, NotSupported):
        place.unlink(missing_ok=True)
        raise
    return place


def _write(place: Path, batches: Iterable[pa.RecordBatch], _: object) -> None:
    """Write records to a file of Parquet or CSV, batch by batch."""
    following = iter(batches)
    first = next(following)
    with writer(place, first) as file:
        for batch in itertools.chain([first], following):
            file.write_batch(as_written(place, batch))


def _where(joint: Joint, release: Release, where: str) -> Boxes:
    """Return the records of a model of which a condition holds."""
    parts = tuple(part for weights in products(release.schema, where) if (part := joint.restricted(weights)).share > 0)
    if not parts:
        raise ValueError(f"{where!r} holds of no record of what the release publishes")
    return Boxes(parts=parts)


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
        return dense(norm_sub(counts / max(1.0, float(counts.sum())), users=1).reshape(shape))
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
        f"a release of kind {release.kind!r} by {release.method!r} has no joint distribution of all its attributes "
        "to draw records from: a joint has one, and so have a curator's tables that hold every attribute, and one "
        f"table of all of them, of at most {MOST_CELLS:,} cells"
    )
