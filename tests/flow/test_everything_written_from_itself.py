"""Everything that is written is the same bytes whatever container holds the rows, and whatever one more row holds.

Two neighbours differ in one row; where that row is coded as another, or is left out, all files must be equal.
"""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.flow.everything_written import (
    CENTRAL,
    DECLARING,
    FILES,
    INFERRING,
    KINDS,
    Make,
    beside,
    equal,
    everything,
    holds,
    in_pandas,
    objects,
    pandas,
    parquet,
    reference,
    refused,
)

from dpress.attributes.arrow import columns
from dpress.attributes.discovered import with_discovered
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.table_sums import Found
from dpress.data import count_names, table_rows
from dpress.data.persons import person_columns
from dpress.data.sources import frames
from dpress.release.curator import publish as publishing

NASTY = [
    None, float("nan"), pd.NA, "x", "true", "", "2", True, 1, 2.5, 7.0, 2**53 - 1, 2**60 + 1, 2**63, 2**64 + 1,
    float("inf"), Decimal("2.5"), Decimal(2), dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 7, tzinfo=dt.UTC), [1, "a"],
    {"a": 1}, b"\xff", "\ud800", "\u00e9" * 200, "=1+1", np.float32(0.1), 2j, object(),
]  # fmt: skip
BASES: dict[str, list[Any]] = {
    "integers": [1, 2, 10] * 40,
    "truths": [True, False, True] * 40,
    "texts": ["a", "2", "10"] * 40,
    "floats": [1.0, 2.5, 10.0] * 40,
}
PERSONS: dict[str, list[Any]] = {  # each has one row
    "integers": [*range(100, 220)],
    "texts": [f"p{one}" for one in range(120)],
    "floats": [one + 0.5 for one in range(100, 220)],
    "large integers": [2**60 + one for one in range(120)],
}
REJECTING = ("persons", "devices' numbers")  # a row without a value is refused
DISCOVERING = ("names", "groups")
OF_NUMBERS = ("tables of integers", "ranges", "map", "statistics", "bounds", "devices' numbers")
References = dict[tuple[str, tuple[Any, ...], bool], dict[str, bytes]]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpress.release.curator.publish.now", lambda: "2026-01-01T00:00:00+00:00")


@pytest.fixture(scope="module")
def references() -> References:
    return {}


def as_texts(kind: str, values: list[Any], folder: Path, held: References, *, bundle: bool = False) -> dict[str, bytes]:
    """Return what is written of rows whose values are texts, made once."""
    rows = reference(kind, values)
    key = (kind, tuple(rows["x"].to_pylist()), bundle)
    if key not in held:
        held[key] = everything(kind, rows, folder, bundle=bundle)
    return held[key]


def differing(
    kind: str, make: Make, base: str, nasty: list[Any], folder: Path, held: References, *, bundle: bool = False
) -> tuple[list[Any], int]:
    """Return which values change a file of a kind, with the file's name, and how many were compared."""
    found, compared = [], 0
    for value in nasty:
        values = [*(PERSONS if kind == "persons" else BASES)[base], value]
        data = holds(make, values, folder)
        same = [in_pandas(one) for one in values] if make in INFERRING and kind != "persons" else values
        if data is None or (kind in REJECTING and equal(kind, same[-1]) is None):
            continue
        wanted = as_texts(kind, same, folder, held, bundle=bundle)
        try:
            files = everything(kind, data, folder, bundle=bundle)
        except SchemaMismatch as error:
            if not refused(error, make, values):
                raise
            continue
        compared += 1
        found += [(value, name) for name in wanted | files if files.get(name) != wanted.get(name)]
    return found, compared


@pytest.mark.slow
@pytest.mark.parametrize("base", ["integers", "truths", "texts"])
@pytest.mark.parametrize("kind", DISCOVERING)
def test_no_row_changes_what_is_discovered(kind: str, base: str, tmp_path: Path, references: References) -> None:
    for number, make in enumerate(INFERRING):
        nasty = NASTY[number % 2 :: number + 1]  # all of them where pandas chooses the type
        found, compared = differing(kind, make, base, nasty, tmp_path, references)
        assert found == []
        assert compared > len(nasty) // 2


def turned(kind: str, make: Make) -> tuple[str, list[Any]]:
    """Return rows of the type that a kind reads, and every seventh of the values: others for every kind and source."""
    bases = [base for base in BASES if kind not in OF_NUMBERS or base in ("integers", "floats")]
    bases = [base for base in bases if kind != "persons" or base in PERSONS]
    number = [*KINDS].index(kind) + 3 * (*INFERRING, *DECLARING, *FILES).index(make)
    return bases[number % len(bases)], NASTY if make in FILES else NASTY[number % 9 :: 9]


@pytest.mark.slow
@pytest.mark.parametrize("make", [*INFERRING, *DECLARING, *FILES], ids=lambda make: make.__name__)
def test_no_container_changes_what_is_written(make: Make, tmp_path: Path, references: References) -> None:
    total = 0
    for kind in KINDS:
        base, nasty = turned(kind, make)
        found, compared = differing(kind, make, base, nasty, tmp_path, references)
        assert (kind, base, found) == (kind, base, [])
        total += compared
    assert total >= len(KINDS) // 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", CENTRAL)
def test_no_row_changes_page_bundle_or_record(kind: str, tmp_path: Path, references: References) -> None:
    base = "floats" if kind == "persons" else "integers"
    found, compared = differing(kind, pandas, base, ["x"], tmp_path, references, bundle=True)
    assert (found, compared) == ([], 1)


def test_no_person_merges_others(tmp_path: Path, references: References) -> None:
    """Integers of 2^53 and more stay as many persons, or beside a float, which pandas makes of them, are refused."""
    nasty = [0.5, float("inf"), "x", 10**30, True, -3]
    assert differing("persons", pandas, "large integers", nasty, tmp_path, references) == ([], 4)
    assert differing("persons", objects, "large integers", nasty, tmp_path, references) == ([], 5)
    assert differing("persons", pandas, "integers", [0.5, float("inf"), 2**60], tmp_path, references) == ([], 2)


def test_merged_persons_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, references: References) -> None:
    monkeypatch.setattr(person_columns, "has_lost_digits", lambda _: False)
    found, compared = differing("persons", pandas, "large integers", [0.5], tmp_path, references)
    assert compared == 1
    assert "release.json" in {name for _, name in found}


def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """List discovered names as values of the column's type, where all batches have one: what was once written."""
    kinds = dict[str, pa.DataType]()
    texts_of = count_names.texts_of

    def watched(name: str, batch: pa.RecordBatch) -> pa.Array:
        kinds["last"] = batch.schema.field(name).type
        return texts_of(name, batch)

    def listing(attributes: Any, found: Found) -> Any:
        ((axis, names),) = found.names.items()
        made: Any = {pa.int64(): int, pa.bool_(): "true".__eq__}.get(kinds["last"], str)
        return with_discovered(attributes, Found(names={axis: tuple(sorted(map(made, names)))}))

    monkeypatch.setattr(count_names, "texts_of", watched)
    for module in (table_rows, publishing):
        monkeypatch.setattr(module, "with_discovered", listing)


def unnamed_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read no integers in floats."""
    monkeypatch.setattr(columns, "_integer_in_float", lambda value: None if value is None else str(value))


def exact_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the digits of integers that pandas keeps only as long as none is missing."""
    monkeypatch.setattr(frames, "_integers", lambda column: column)


@pytest.mark.parametrize(
    ("fault", "kind", "base", "value"),
    [(typed, "groups", "truths", True), (typed, "groups", "integers", 1), (unnamed_floats, "names", "integers", None),
     (exact_integers, "names", "integers", 2**60)],
)  # fmt: skip
def test_planted_faults_are_found(
    fault: Any, kind: str, base: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: References = {}
    assert differing(kind, pandas, base, [value], tmp_path, held) == ([], 1)
    fault(monkeypatch)
    assert "release.json" in {name for _, name in differing(kind, pandas, base, [value], tmp_path, held)[0]}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sql", "threads"])
def test_no_row_of_postgresql_changes_what_is_discovered(
    engine: str, new_database: Any, tmp_path: Path, references: References
) -> None:
    import psycopg

    url = new_database()
    kinds = {"integers": "bigint", "truths": "boolean", "texts": "text"}
    nasty = {"integers": [None, 2**60 + 1], "truths": [None], "texts": [None, "x", "", "\u00e9" * 200]}
    with psycopg.connect(url, autocommit=True) as connection:
        for base, column in kinds.items():
            for number, value in enumerate(nasty[base]):
                values, table = [*BASES[base], value], f"{base}_{number}"
                connection.execute(f"CREATE TABLE {table} (x {column}, side text, pay float8)")
                with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                    for row in zip(values, *beside(values).values(), strict=True):
                        copy.write_row(row)
                for kind in DISCOVERING:
                    files = everything(kind, f"{url}#{table}", tmp_path, engine=engine)
                    assert files == as_texts(kind, values, tmp_path, references)


@pytest.mark.long
@pytest.mark.slow
def test_no_row_of_spark_changes_what_is_discovered(spark_session: Any, tmp_path: Path, references: References) -> None:
    values = [*BASES["truths"], None]
    frame = spark_session.read.parquet(str(parquet(values, tmp_path)))
    for kind in DISCOVERING:
        assert everything(kind, frame, tmp_path) == as_texts(kind, values, tmp_path, references)
