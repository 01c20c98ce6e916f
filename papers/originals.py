"""Readers of the public originals: from a folder of downloaded files to rows as the scripts read them."""

import contextlib
import csv
import gzip
import shutil
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from dpress.attributes.listed import hierarchy_file

ADULT = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
BINS = 16
MOST = 1_000_000  # check-ins: the document's number
NEW_YORK = ((-74.3, -73.6), (40.4, 41.0))  # longitude, latitude
HIERARCHIES = {
    "age": "age", "workclass": "workclass", "education": "education", "marital_status": "marital-status",
    "occupation": "occupation", "race": "race", "sex": "sex", "native_country": "native-country",
    "income": "salary-class",
}  # fmt: skip


def _existing(folder: Path, names: Sequence[str]) -> Path:
    return next(folder / name for name in names if (folder / name).is_file())


@contextlib.contextmanager
def _reading(path: Path, expected: str) -> Iterator[None]:
    """Say of a file that cannot be read what it should be, and no word of what it has."""
    try:
        yield
    except (ValueError, EOFError, csv.Error, gzip.BadGzipFile, zlib.error, pa.ArrowException):
        raise ValueError(f"{path}: expected {expected}") from None


def nltcs(folder: Path) -> pa.Table:
    """Return the three parts of NLTCS, lines of 16 comma-separated bits."""
    parts = {
        "train": ("nltcs.train.data", "nltcs.ts.data"), "valid": ("nltcs.valid.data",), "test": ("nltcs.test.data",),
    }  # fmt: skip
    bits, split = [], []
    for name, files in parts.items():
        path = _existing(folder, files)
        with _reading(path, "lines of 16 bits"), warnings.catch_warnings(action="ignore"):  # of an empty file
            own = np.loadtxt(path, delimiter=",", dtype=np.uint8, ndmin=2)
            if own.shape[1] != 16 or own.max() > 1:
                raise ValueError
        bits.append(own)
        split += [name] * len(own)
    whole = np.concatenate(bits)
    columns = {f"x{place:02d}": whole[:, place] for place in range(16)}
    return pa.table(columns | {"split": pa.array(split).dictionary_encode()})


def adult(folder: Path) -> pa.Table:
    """Return UCI Adult: both parts, ? as null, the full stops behind the test part's labels removed."""
    rows, split = [], []
    for name, file in (("train", "adult.data"), ("test", "adult.test")):
        own = _lines(folder / file)
        rows += own
        split += [name] * len(own)
    columns = {}
    for name, values in zip(ADULT, zip(*rows, strict=True), strict=True):
        if name in NUMBERS:
            columns[name] = pa.array(list(map(int, values)), pa.int32())
        else:
            columns[name] = pa.array([None if one == "?" else one for one in values], pa.string()).dictionary_encode()
    return pa.table(columns | {"split": pa.array(split).dictionary_encode()})


def _lines(path: Path) -> list[list[str]]:
    """Return the rows of a part of Adult; its numbers are numbers."""
    with _reading(path, "lines of text in UTF-8"), path.open(newline="", encoding="utf-8") as file:
        read = list(enumerate(csv.reader(file, skipinitialspace=True), start=1))
    rows = [(number, row) for number, row in read if len(row) > 1]  # not the test part's first, nor empty ones
    for number, row in rows:
        if len(row) != len(ADULT):
            raise ValueError(f"{path}: line {number}: expected {len(ADULT)} fields, got {len(row)}")
        for name, text in zip(ADULT, row, strict=True):
            if name in NUMBERS and not text.isdecimal():
                raise ValueError(f"{path}: line {number}: expected a number as {name}")
    if not rows:
        raise ValueError(f"{path}: expected lines of {len(ADULT)} fields, got none")
    return [[*row[:-1], row[-1].rstrip(".")] for _, row in rows]


def adult_codes(folder: Path) -> pa.Table:
    """Return the complete rows of UCI Adult in codes.

    Categories in alphabetical order; numbers in 16 bins of equal width between the smallest and the largest, as LoPub
    and PrivBayes have them. These ends are read off the rows: right for a benchmark, never for a private release.
    """
    rows = adult(folder).drop_null()
    columns = {name: _codes(name, rows[name].combine_chunks()) for name in ADULT}
    return pa.table(columns | {"split": rows["split"]})


def _codes(name: str, column: pa.Array) -> np.ndarray:
    if name not in NUMBERS:
        values = column.cast(pa.string()).to_numpy(zero_copy_only=False)
        return np.unique(values, return_inverse=True)[1].astype(np.uint8)
    numbers = column.to_numpy().astype(np.float64)
    low, high = numbers.min(), numbers.max()
    return np.minimum((numbers - low) / (high - low) * BINS, BINS - 1).astype(np.uint8)


def gowalla(folder: Path) -> pa.Table:
    """Return about a million check-ins, evenly spaced in the file: user, time, latitude, longitude, place by tabs."""
    path = _existing(folder, ("loc-gowalla_totalCheckins.txt.gz", "loc-gowalla_totalCheckins.txt"))
    names = ["uid", "time", "lat", "lon", "lid"]
    types = {"uid": pa.int64(), "lid": pa.int64(), "lon": pa.float64(), "lat": pa.float64()}
    expected = "lines of user, time, latitude, longitude and place, by tabs"
    with _reading(path, expected), (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        rows = pa_csv.read_csv(
            file,
            read_options=pa_csv.ReadOptions(column_names=names),
            parse_options=pa_csv.ParseOptions(delimiter="\t"),
            convert_options=pa_csv.ConvertOptions(include_columns=list(types), column_types=types),
        )
    inside = pc.and_(pc.less_equal(pc.abs(rows["lon"]), 180), pc.less_equal(pc.abs(rows["lat"]), 90))
    rows = rows.filter(inside)
    return rows.take(np.linspace(0, rows.num_rows - 1, min(MOST, rows.num_rows)).round().astype(np.int64))


def nyc_taxi(folder: Path) -> pa.Table:
    """Return the pick-ups within New York of one file of trip records."""
    path = _existing(folder, ("trips.csv", "trips.parquet"))
    with _reading(path, "a table with the columns pickup_longitude and pickup_latitude, numbers"):
        rows = pq.read_table(path) if path.suffix == ".parquet" else pa_csv.read_csv(path)
        names = {name.strip().lower(): name for name in rows.column_names}
        ends = [names.get(f"pickup_{one}", names.get(f"start_{one[:3]}", "")) for one in ("longitude", "latitude")]
        if not all(ends):
            raise ValueError
        points = [rows[name].cast(pa.float64()) for name in ends]
    inside = [
        pc.and_(pc.greater_equal(own, low), pc.less_equal(own, high))
        for own, (low, high) in zip(points, NEW_YORK, strict=True)
    ]
    kept = pa.table(dict(zip(("lon", "lat"), points, strict=True))).filter(pc.and_(*inside))
    return kept.append_column("source", pa.array([path.stem] * kept.num_rows).dictionary_encode())


def hierarchies(folder: Path, to: Path) -> list[str]:
    """Copy the hierarchies of Adult as ARX has them, `adult_hierarchy_NAME.csv`; return what was done.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: one is no hierarchy.
    """
    done = []
    for name, original in HIERARCHIES.items():
        source, path = folder / f"adult_hierarchy_{original}.csv", to / f"{name}.csv"
        if source.is_file() and path.exists():
            done.append(f"{path} exists already and is kept")
        elif source.is_file():
            hierarchy_file.read(source, str(source), name, ())
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, path)
            done.append(f"{path}: as ARX has it")
    return done
