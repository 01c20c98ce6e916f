"""Whatever the source and the engine: the same sums, refusals of one line, nothing of the rows in any message."""

import functools

import msgspec
import numpy as np
import pyarrow.csv as pa_csv
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.add_up import SparseArray
from dpress.data.fold import count, fold
from dpress.data.rows import people
from dpress.data.sources import spark_failure
from dpress.data.sources.open_source import open_source
from dpress.data.sources.spark_session import active_session, quiet
from dpress.data.spark import spark_fold as spark_fold_module
from dpress.data.table import Table

pytestmark = [pytest.mark.slow]
PLAIN = (
    {"name": "age", "kind": "integer", "bounds": [17, 90]},
    {"name": "sex", "kind": "categorical", "values": ["Female", "Male"]},
    {"name": "income", "kind": "numeric", "bounds": [0.0, 200000.0], "bins": 20, "null": "cell"},
    {"name": "work", "kind": "categorical", "values": ["Private", "State-gov", "Self-emp-inc"], "other": "Other"},
)
SCHEMA = Schema(tuple(msgspec.convert(one, Attribute) for one in PLAIN))
TABLES = [(0,), (1, 2), (), (0, 1, 3)]


def table(data, engine="spark"):
    return Table(open_source(data, engine=engine), SCHEMA.names, ROW)


@pytest.fixture(scope="module")
def frame(spark, folder):
    with quiet():
        return spark.read.parquet(str(folder))


@pytest.fixture(scope="module")
def text(tmp_path_factory, rows):
    place = tmp_path_factory.mktemp("rows")
    for number in range(2):
        pa_csv.write_csv(rows.slice(number * 15_000, 15_000), place / f"{number}.csv")
    return place


@pytest.fixture(scope="module")
def expected(rows):
    return fold(table(rows, None), SCHEMA, count(SCHEMA.shape, TABLES))


@pytest.mark.parametrize("source", ["frame", "folder", "text"])
@pytest.mark.parametrize("engine", ["spark", "threads"])
@pytest.mark.usefixtures("spark")
def test_every_engine_finds_the_same_in_every_source(source, engine, expected, request):
    seen = []
    data = table(request.getfixturevalue(source), engine)
    found = fold(data, SCHEMA, count(SCHEMA.shape, TABLES), progress=seen.append)
    assert found.dtype == expected.dtype == np.int64
    assert found.tolist() == expected.tolist()
    assert seen[-1] == 30_000


def test_a_frame_suggests_spark(frame, folder):
    assert Table(open_source(frame), SCHEMA.names, ROW).engine == "spark"
    assert Table(open_source(folder), SCHEMA.names, ROW).engine == "threads"


@pytest.mark.usefixtures("spark")
def test_long_tables_travel_as_their_few_entries(folder, monkeypatch, expected):
    def sparse(codes):
        found, times = np.unique(np.ravel_multi_index(tuple(codes), SCHEMA.shape), return_counts=True)
        return SparseArray(int(np.prod(SCHEMA.shape)), found, times)

    monkeypatch.setattr(spark_fold_module, "MOST_TASKS", 2)  # a task reads several parts
    total = fold(table(folder), SCHEMA, sparse).reshape(SCHEMA.shape)
    assert total.sum(axis=(1, 2, 3)).tolist() == expected[: SCHEMA.shape[0]].tolist()


@pytest.mark.usefixtures("spark")
def test_an_array_of_two_axes_keeps_its_shape(folder):
    table_of = functools.partial(np.ravel_multi_index, dims=SCHEMA.shape[:2])

    def kernel(codes):
        size = SCHEMA.shape[0] * SCHEMA.shape[1]
        return np.bincount(table_of(tuple(codes[:2])), minlength=size).reshape(SCHEMA.shape[:2])

    found = [fold(table(folder, engine), SCHEMA, kernel) for engine in ("threads", "spark")]
    assert found[0].shape == SCHEMA.shape[:2]
    assert np.array_equal(*found)


@pytest.mark.parametrize("source", ["frame", "folder"])
def test_a_refused_row_is_the_same_one_line(source, request):
    strict = Schema((SCHEMA.attributes[0], msgspec.convert(PLAIN[1] | {"values": ["Female"]}, Attribute)))
    lines = []
    for engine in ("threads", "spark"):
        data = Table(open_source(request.getfixturevalue(source), engine=engine), strict.names, ROW)
        with pytest.raises(SchemaMismatch, match=r"^attribute sex: ") as refused:
            fold(data, strict, count(strict.shape, [(0, 1)]))
        lines.append(str(refused.value))
    assert lines[0] == lines[1]
    assert "Male" not in lines[1]


def test_a_failing_plan_is_one_line_without_its_words(frame):
    from pyspark.sql.functions import expr

    bad = frame.withColumn("age", expr("CASE WHEN age = 40 THEN raise_error('secret 42') ELSE age END"))
    with pytest.raises(OSError, match=r"^Spark could not count the Spark frame: a task failed") as failed:
        fold(table(bad), SCHEMA, count(SCHEMA.shape, TABLES))
    assert "secret" not in str(failed.value)
    assert failed.value.__context__ is None
    assert failed.value.__cause__ is None


def test_no_rows_are_refused(frame):
    with pytest.raises(SchemaMismatch, match="has no rows"):
        fold(table(frame.limit(0)), SCHEMA, count(SCHEMA.shape, TABLES))


def test_a_missing_column_is_named(frame):
    with pytest.raises(SchemaMismatch, match="no column 'age'"):
        fold(table(frame.drop("age")), SCHEMA, count(SCHEMA.shape, TABLES))


@pytest.mark.usefixtures("spark")
def test_sums_too_large_for_the_driver_are_one_line(folder, monkeypatch):
    def huge(codes):
        return np.ones(1 << 20, dtype=np.int64) * codes.shape[1]

    def fails(*_arguments):
        raise RuntimeError("Total size of serialized results (9 MiB) is bigger than spark.driver.maxResultSize 'x'")

    monkeypatch.setattr(spark_failure, "_arrow", fails)
    with pytest.raises(OSError, match=r"larger than spark\.driver\.maxResultSize; raise it"):
        fold(table(folder), SCHEMA, huge)


@pytest.mark.usefixtures("spark")
def test_rows_of_this_process_are_not_sent(rows):
    with pytest.raises(NotSupported, match=r'engine "spark" counts files and Spark DataFrames'):
        fold(table(rows), SCHEMA, count(SCHEMA.shape, TABLES))


def test_a_file_that_changes_meanwhile_is_refused(spark, folder, tmp_path):
    (copy := tmp_path / "rows.parquet").write_bytes((folder / "0.parquet").read_bytes())

    def kernel(codes):
        if codes.shape[1]:
            copy.touch()
        return np.array([codes.shape[1]])

    with pytest.raises(OSError, match=r"changed while it was read; nothing was released"):
        fold(table(copy), SCHEMA, kernel)
    assert active_session() is not None
    assert spark is not None


def test_several_passes_see_the_same_rows_or_none(frame, rows):
    from pyspark.sql.functions import expr

    def ages(codes):
        return np.bincount(codes[0], minlength=SCHEMA.shape[0])

    counted = fold(table(rows, None), SCHEMA, ages)
    far = people(table(frame), SCHEMA)
    assert [far.fold(ages).tolist() for _ in range(2)] == [counted.tolist()] * 2
    assert np.bincount(far.table()[0], minlength=SCHEMA.shape[0]).tolist() == counted.tolist()
    with quiet():
        from pyspark.sql.functions import udf

        @udf("long")
        def drawn(age):
            import secrets

            return age - secrets.randbelow(2) if age > 17 else age

        changing = frame.withColumn("age", drawn.asNondeterministic()(expr("age")))
    redrawn = people(table(changing), SCHEMA)
    with pytest.raises(OSError, match=r"other rows whenever it is read, as by rand"):
        redrawn.fold(ages)
