"""Atoms are counted alike by every engine, and as the table of all cells says."""

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.atoms import Atoms, Condition
from dpress.data import true_counts as module
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.true_counts import atom_counts, cell_sums, row_sums, true_counts

SCHEMA = Schema(
    tuple(
        msgspec.convert(one, Attribute)
        for one in (
            {"name": "age", "kind": "integer", "bounds": [3, 80], "null": "none"},
            {"name": "sex", "kind": "categorical", "values": ["M", "F"], "other": "else"},
            {"name": "pay", "kind": "numeric", "bounds": [0.0, 1000.0], "bins": 50, "null": "none"},
        )
    )
)
PREDICATES = (
    ((Condition(0, ((0, 20), (40, 50))), Condition(1, ((0, 0),))),),
    ((Condition(1, ((1, 1),)),), (Condition(2, ((25, 50),)),)),
    ((Condition(0, ((10, 78),)),),),
)
ATOMS = Atoms(SCHEMA.shape, PREDICATES)
PLACE = np.arange(4000)
PEOPLE = pa.table(
    {
        "age": pa.array((PLACE * 7 % 90).tolist(), pa.int32(), mask=PLACE % 41 == 0),
        "sex": pa.array([("M", "F", "f", None)[one] for one in PLACE % 7 % 4]),
        "pay": pa.array(np.where(PLACE % 29 == 0, np.nan, PLACE * 13.7 % 1100 - 50)),
        "uid": pa.array(PLACE // 5),
    }
)


def by_cells() -> np.ndarray:
    cells = true_counts(SCHEMA, ((0, 1, 2),), PEOPLE, ROW)
    codes = np.array(np.unravel_index(np.arange(cells.size), SCHEMA.shape))
    return np.bincount(ATOMS.of(codes), cells, minlength=ATOMS.size)


@pytest.fixture
def sources(tmp_path):
    pq.write_table(PEOPLE, tmp_path / "people.parquet", row_group_size=500)
    with duckdb.connect(tmp_path / "people.duckdb") as connection:
        people = PEOPLE  # noqa: F841  # DuckDB finds it by its name
        connection.sql("CREATE TABLE people AS FROM people")
    file = open_source(str(tmp_path / "people.parquet"))
    return {
        "memory": PEOPLE,
        "threads": str(tmp_path / "people.parquet"),
        "sql": Rows(file.source, "sql"),
        "database": f"{tmp_path / 'people.duckdb'}#people",
    }


@pytest.mark.parametrize("name", ["memory", "threads", "sql", "database"])
def test_every_engine_counts_what_the_cells_say(name, sources) -> None:
    seen = []
    found = atom_counts(SCHEMA, ATOMS, sources[name], ROW, progress=seen.append)
    assert found.dtype == np.int64
    assert np.array_equal(found, by_cells())
    assert seen[-1:] == ([] if name in ("sql", "database") else [len(PEOPLE)])  # a statement notes none


@pytest.mark.parametrize("name", ["memory", "threads", "database"])
def test_a_person_keeps_so_many_rows(name, sources) -> None:
    found = atom_counts(SCHEMA, ATOMS, sources[name], Unit(column="uid", rows=2))
    assert found.sum() == 2 * 800
    assert (found <= by_cells()).all()


def test_atoms_of_other_cells_are_refused() -> None:
    with pytest.raises(SchemaMismatch, match="the predicates are about cells"):
        atom_counts(SCHEMA, Atoms((9, 9, 9), (((),),)), PEOPLE, ROW)


@pytest.mark.parametrize("name", ["threads", "sql", "database"])
def test_a_kernel_sees_cells_where_a_statement_counts_them(name, sources, monkeypatch):
    def kernel(codes):
        seen.append(codes.shape[1])
        weights = np.arange(1, 4)[:, None] * codes[1].astype(np.int64) + codes[2]
        return np.array([codes.shape[1], *weights.sum(axis=1)])

    seen: list[int] = []
    expected = row_sums(SCHEMA, kernel, PEOPLE, ROW)
    assert expected[0] == len(PEOPLE)
    seen.clear()
    assert row_sums(SCHEMA, kernel, sources[name], ROW).tolist() == expected.tolist()
    by_cell = name != "threads"
    assert (sum(seen) < len(PEOPLE)) == by_cell
    monkeypatch.setattr(module, "MOST_CELLS", 10)
    seen.clear()
    assert row_sums(SCHEMA, kernel, sources[name], ROW).tolist() == expected.tolist()
    assert sum(seen) == len(PEOPLE)


def test_a_bit_that_is_left_out_is_seen():
    counts = np.array([0, 5, 3, 1 << 40])
    total = cell_sums(counts, (2, 2), lambda codes: np.bincount(2 * codes[0] + codes[1], minlength=4))
    assert total.tolist() == counts.tolist()
    assert cell_sums(counts & ~4, (2, 2), lambda codes: np.array([codes.shape[1]])) != counts.sum()
    assert cell_sums(np.zeros(4, int), (2, 2), lambda codes: np.array([codes.shape[1]])).tolist() == [0]
