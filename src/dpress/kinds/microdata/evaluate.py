"""Records against the rows they were made from: for the people who hold the data. Its output is not private.

rows, records -> each record's original -> squared error and linkage; tables of both -> how far they are apart.
"""

import importlib
import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.attributes.mixed import Column
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import seeded
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes
from dpress.data.add_up import Progress
from dpress.data.rows import people
from dpress.data.table import Table
from dpress.kinds.microdata.answers import ANSWERING
from dpress.kinds.microdata.linkage import Linkage, linked
from dpress.mechanisms.microdata.cluster_queries import binned
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, Remarks, TrueRows

BINS = 16  # of a number, where tables of records are compared
QUERIES = 500
NOT_COMPARED = "no classifier: "
SEED = 2014


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return how far records are from the rows they were made from.

    Errors of records, in squares of the scale of the bounds (0 to 1) and of hierarchy distances (0 to 1), summed over
    all records, after each was given an original (`linkage.linked`); names that begin with `nearest` and
    `record_linkage_percent_at_most` where that is the nearest row. `share` is of the rows' own variation, around the
    mean and the best category. Total variation distances are means over attributes and over pairs, numbers in 16 equal
    bins. Ranges: 500 queries about one or two attributes, the mean error over the number of rows.

    Raises:
        OSError, SchemaMismatch: rows cannot be read or do not fit the release's spec.
        NotSupported: rows were held out without what a classifier needs (`no_classifier`).
    """
    if rows.held_out is not None and (why := no_classifier(release)):
        raise NotSupported(why)
    answers, codes = ANSWERING.of(release), _read(release, rows.data, release.claim.unit, rows.progress)
    columns, records = answers.maker.columns, answers.codes
    metrics = {"rows": float(codes.shape[1]), "records": float(records.shape[1])}
    if codes.shape[1] and records.shape[1]:
        linkage = linked(columns, codes, records, aligned=_aligned(release))
        metrics |= _errors(columns, codes, records, linkage)
        metrics |= _tables(columns, codes, records)
        metrics["range_mean_absolute_error_share"] = _ranges(release, codes)
        if rows.held_out is not None:
            metrics |= _classified(release, codes, _read(release, rows.held_out, ROW, None))
    return metrics


def remarks(release: Release) -> Remarks:
    """Return whether a classifier could be compared, too."""
    return Remarks(hint=no_classifier(release) or "no classifier: --held-out FILE would name rows to test it on")


def no_classifier(release: Release) -> str:
    """Return why no classifier can be trained on a release; empty where one can."""
    last = release.schema.tabular[-1]
    if last.listing is None or len(release.schema.names) < 2:
        return f"{NOT_COMPARED}the last attribute, which it would predict, is no list of values, or is the only one"
    try:
        importlib.import_module("sklearn.ensemble")
    except ImportError:
        return f"{NOT_COMPARED}it needs scikit-learn: pip install 'dpress[lasso]'"
    return ""


def _aligned(release: Release) -> bool:
    """Return whether record i is about row i; where persons are bounded, their rows have no order."""
    return bool(ANSWERING.of(release).made.aligned) and release.claim.unit.column is None


def _read(release: Release, data: Any, unit: Unit, progress: Progress | None) -> Codes:
    table = Table(data, release.schema.columns, unit)
    return people(table, release.schema, progress=progress).table()


def _errors(columns: tuple[Column, ...], rows: Codes, made: Codes, linkage: Linkage) -> dict[str, float]:
    squares, variation, mismatches = {"numeric": 0.0, "categorical": 0.0}, 0.0, list[float]()
    totals = dict(squares)
    for column, codes, new in zip(columns, rows, made, strict=True):
        kind = "numeric" if column.numeric else "categorical"
        original = codes[linkage.original]
        squares[kind] += float(_apart(column, original, new).sum())
        totals[kind] += _variation(column, codes)
        if not column.numeric:
            mismatches.append(float((original != new).mean()))
    variation = sum(totals.values()) * made.shape[1] / rows.shape[1]
    start = "" if linkage.certain else "nearest_"
    result = {f"{start}squared_error": sum(squares.values())}
    if variation:
        result[f"{start}squared_error_share"] = sum(squares.values()) / variation
    if totals["numeric"]:
        part = totals["numeric"] * made.shape[1] / rows.shape[1]
        result |= {f"{start}numeric_squared_error_share": squares["numeric"] / part}
    if mismatches:
        result[f"{start}categorical_mismatch"] = float(np.mean(mismatches))
    result[f"record_linkage_percent{'' if linkage.certain else '_at_most'}"] = 100 * linkage.linkage
    return result


def _apart(column: Column, original: npt.NDArray[np.int32], new: npt.NDArray[np.int32]) -> Array:
    """Return the squared distance of every two values."""
    if column.numeric:
        return np.asarray((column.scaled[original] - column.scaled[new]) ** 2)
    return np.asarray(column.distance[original, new] ** 2)


def _variation(column: Column, codes: npt.NDArray[np.int32]) -> float:
    """Return the squared distance of all values from their mean, or from the category nearest to all."""
    if column.numeric:
        values = column.scaled[codes]
        return float(((values - values.mean()) ** 2).sum())
    return float((np.bincount(codes, minlength=column.size) @ column.distance**2).min())


def _tables(columns: tuple[Column, ...], rows: Codes, made: Codes) -> dict[str, float]:
    """Return the total variation distance of the shares in tables of one and of two attributes, as means."""
    sizes = [min(column.size, BINS) if column.numeric else column.size for column in columns]
    bins = [binned(column.size, size) for column, size in zip(columns, sizes, strict=True)]

    def distance(axes: tuple[int, ...]) -> float:
        shape = tuple(sizes[axis] for axis in axes)
        shares = []
        for codes in (rows, made):
            cells = np.ravel_multi_index(tuple(bins[axis][codes[axis]] for axis in axes), shape)
            shares.append(np.bincount(cells, minlength=math.prod(shape)) / cells.size)
        return float(np.abs(shares[0] - shares[1]).sum() / 2)

    axes = range(len(columns))
    metrics = {"one_way_total_variation": float(np.mean([distance((axis,)) for axis in axes]))}
    if len(columns) > 1:
        pairs = [distance(pair) for pair in itertools.combinations(axes, 2)]
        metrics["two_way_total_variation"] = float(np.mean(pairs))
    return metrics


def _ranges(release: Release, rows: Codes) -> float:
    """Return the mean absolute error of random queries: ranges of one or two attributes, or one of their values."""
    words = seeded(SEED).words(6 * QUERIES).reshape(QUERIES, 6).astype(np.float64) / 2.0**64
    attributes, errors = release.schema.tabular, list[float]()
    for draws in words.tolist():
        count = len(attributes)
        axes = {int(draws[0] * count), int(draws[1] * count)}
        inside = [np.ones(codes.shape[1], dtype=bool) for codes in (rows, ANSWERING.of(release).codes)]
        for axis, (start, end) in zip(sorted(axes), (draws[2:4], draws[4:6]), strict=False):
            size = attributes[axis].size
            ends = sorted((int(start * size), int(end * size)))
            low, high = ends if attributes[axis].ordered else (ends[0], ends[0])
            for place, codes in enumerate((rows, ANSWERING.of(release).codes)):
                inside[place] &= (codes[axis] >= low) & (codes[axis] <= high)
        errors.append(abs(int(inside[0].sum()) - int(inside[1].sum())) / rows.shape[1])
    return float(np.mean(errors))


def _classified(release: Release, rows: Codes, held_out: Codes) -> dict[str, float]:
    """Return how often a classifier of the last attribute is right about held-out rows.

    Trained on the records; on the rows themselves, which bounds it; and that always names the commonest value.
    """
    truth = held_out[-1]
    common = int(np.bincount(rows[-1]).argmax())
    return {
        "classifier_accuracy": _accuracy(ANSWERING.of(release).maker.columns, ANSWERING.of(release).codes, held_out),
        "classifier_accuracy_trained_on_rows": _accuracy(ANSWERING.of(release).maker.columns, rows, held_out),
        "classifier_accuracy_of_commonest": float((truth == common).mean()),
    }


def _accuracy(columns: tuple[Column, ...], train: Codes, test: Codes) -> float:
    ensemble = importlib.import_module("sklearn.ensemble")
    if np.unique(train[-1]).size < 2:
        return float((test[-1] == train[-1][0]).mean())
    listed = [not column.numeric and column.size <= 255 for column in columns[:-1]]
    model = ensemble.HistGradientBoostingClassifier(categorical_features=listed, random_state=0)
    model.fit(train[:-1].T, train[-1])
    return float((model.predict(test[:-1].T) == test[-1]).mean())


COMPARISON = Comparison(evaluate=evaluate, remarks=remarks)
