"""TPC-H's Q1 and Q6, the tasks of the usability study and twenty statements of dashboards: as near as they say.

Persons have no more rows than the cap, so that the truth is that of all rows: what DuckDB answers.
"""

import functools
import shutil

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.release.statements import subjects

from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded
from dpress.release.statements.plan_statements import plan_statements
from dpress.release.statements.publish_statements import publish_statements

pytestmark = pytest.mark.slow
SUBJECTS = tuple(subjects.TABLES)
FAR = 4.0  # standard errors
SURE = 0.9999  # of an interval of about as many


@functools.cache
def planned(subject):
    return plan_statements(subjects.HERE / f"{subject}.toml", subjects.sql(subject))


def published(subject, data, folder, engine):
    return publish_statements(planned(subject), data, out=folder / "out", engine=engine, rng=rng.seeded(11))


def tables(answers, confidence=SURE):
    return [answers.answer(number, confidence=confidence) for number in range(1, answers.count + 1)]


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory):
    """What Arrow's rows give by threads, once for every subject."""
    return functools.cache(
        lambda subject: published(subject, subjects.rows(subject), tmp_path_factory.mktemp(subject), None)
    )


@pytest.fixture(scope="module")
def answered(by_threads):
    """Its answers."""
    return functools.cache(lambda subject: tables(by_threads(subject)))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_answers_are_as_near_to_the_truth_as_they_say(answered, subject):
    for answer in answered(subject):
        keys = [name for name in answer.table.column_names if name not in answer.of_numbers]
        right = {key_of(row, keys): row for row in subjects.truth(subject, answer.statement)}
        assert answer.table.num_rows, answer.statement
        for row in answer.table.to_pylist():
            if (true := right.get(key_of(row, keys))) is not None:
                for name in answer.numbers:
                    check(row, name, float(true[name]), answer.statement)


def key_of(row, keys):
    return tuple(str(row[name])[:10] for name in keys)


def check(row, name, true, statement):
    """Hold a number against the truth: of quantiles, and means over cells, the ends of the interval alone tell."""
    what = f"{name} of {row}: {true}; {statement}"
    assert row[f"{name}_low"] <= true <= row[f"{name}_high"], what
    if "middle" not in name and "long" not in name:
        assert abs(row[name] - true) <= FAR * row[f"{name}_error"] + 1e-9 * abs(true), what


def test_of_a_hundred_intervals_about_five_miss(by_threads):
    held = [
        row[f"{name}_low"] <= float(right[key_of(row, keys)][name]) <= row[f"{name}_high"]
        for subject in SUBJECTS
        for answer in tables(by_threads(subject), 0.95)
        for keys in [[name for name in answer.table.column_names if name not in answer.of_numbers]]
        for right in [{key_of(row, keys): row for row in subjects.truth(subject, answer.statement)}]
        for row in answer.table.to_pylist()
        if key_of(row, keys) in right
        for name in answer.numbers
    ]
    assert len(held) > 200
    assert sum(held) / len(held) > 0.92


def in_duckdb(subject, folder):
    with duckdb.connect(folder / "rows.duckdb") as connection:
        connection.register("made", subjects.rows(subject))
        connection.execute("CREATE TABLE rows AS SELECT * FROM made")
    return f"{folder / 'rows.duckdb'}#rows"


def in_parquet(subject, folder):
    pq.write_table(subjects.rows(subject), folder / "rows.parquet", row_group_size=1000)
    return folder / "rows.parquet"


KINDS = {"int64": "bigint", "double": "double precision", "bool": "boolean", "date32[day]": "date", "string": "text"}


def in_postgres(subject, url):
    import psycopg

    rows = subjects.rows(subject)
    columns = ", ".join(f"{field.name} {KINDS[str(field.type)]}" for field in rows.schema)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE seen ({columns})")
        with connection.cursor() as cursor, cursor.copy("COPY seen FROM STDIN") as copy:
            for row in rows.to_pylist():
                copy.write_row(list(row.values()))
    return f"{url}#seen"


@pytest.mark.parametrize("engine", ["sql", "threads"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_duckdb_gives_the_same(answered, tmp_path, subject, engine):
    same(answered(subject), published(subject, in_duckdb(subject, tmp_path), tmp_path, engine))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_postgres_gives_the_same(answered, tmp_path, new_database, subject):
    same(answered(subject), published(subject, in_postgres(subject, new_database()), tmp_path, "sql"))


@pytest.mark.long
@pytest.mark.usefixtures("spark_session")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_spark_gives_the_same(answered, tmp_path, subject):
    same(answered(subject), published(subject, in_parquet(subject, tmp_path), tmp_path, "spark"))


def same(right, answers):
    for answer, other in zip(right, tables(answers), strict=True):
        assert answer.table.equals(other.table), answer.statement


def test_every_release_draws_from_a_stream_of_its_own(answered, tmp_path):
    """What is missing of an interrupted folder comes from the stream that it would have had."""
    begun = published("hospitals", subjects.rows("hospitals"), tmp_path, None)
    names = [*begun.answered]
    kept = {tuple(begun.release(name).kept[:3].tolist()) for name in names}
    assert len(kept) == len(names) > 1
    shutil.rmtree(begun.folder / names[-1])
    same(answered("hospitals"), published("hospitals", subjects.rows("hospitals"), tmp_path, None))


def test_the_budget_of_the_five_tasks_pays_once(tmp_path):
    ledger = tmp_path / "ledger.db"
    made = publish_statements(planned("people"), subjects.rows("people"), out=tmp_path / "out", ledger=ledger)
    assert made.missing == ()
    with pytest.raises(BudgetExceeded):
        publish_statements(planned("people"), subjects.rows("people"), out=tmp_path / "third", ledger=ledger)
    assert not (tmp_path / "third").exists()


def test_the_least_budget_for_an_error_is_read_off_a_plan():
    spec = (subjects.HERE / "people.toml").read_text()
    histogram = subjects.sql("people").partition(";")[0]

    def error(epsilon):
        of = spec.replace("epsilon = 1.0", f"epsilon = {epsilon}")
        return plan_statements(of, histogram).errors[0][0].error

    low, high = 0.01, 1.0
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if error(middle) <= 10 else (middle, high)
    assert error(high) <= 10 < error(low)
    assert high == pytest.approx(2**0.5 / 10, rel=0.02)
