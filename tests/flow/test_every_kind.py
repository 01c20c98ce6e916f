"""Every kind on every engine: the release of threads, and whether rows leave the engine for it as the page says."""

import json
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import pytest
from tests.flow import every_kind
from tests.flow.every_kind import COLLECTED, CURATED, ENGINES, PAGE, estimated, published, reported, rows_leave, table
from tests.flow.same_rows import ROWS, parquet, to_postgres

from dpress.core.basics import rng
from dpress.data.spark.spark_run import on_spark
from dpress.release.curator.publish import publish

pytestmark = pytest.mark.usefixtures("one_short_fit")

ROOT = Path(__file__).parents[2]
SLOW = [pytest.mark.slow, pytest.mark.long]
TYPED = """CREATE VIEW people AS
SELECT uid, age::integer AS age, pay, sex::text AS sex, lon, lat::float8 AS lat, year::text AS year FROM visits"""
HERE = [pytest.param(kind, engine, marks=pytest.mark.slow) for kind in CURATED for engine in ("threads", "duckdb")]
THERE = [pytest.param(kind, engine, marks=SLOW) for kind in CURATED for engine in ("postgres", "spark", "files")]
expected = cache(partial(published, data=ROWS, engine=None))


@pytest.fixture(scope="module")
def where(request, tmp_path_factory):
    """What returns the rows as an engine has them, and what `--engine` says."""
    file = parquet(tmp_path_factory.mktemp("rows"))

    @cache
    def found(engine):
        if engine == "postgres":
            import psycopg

            to_postgres(url := request.getfixturevalue("new_database")())
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(TYPED)
            return f"{url}#people", None
        if engine == "spark":
            return request.getfixturevalue("spark_session").read.parquet(str(file)), None
        if engine == "files":
            request.getfixturevalue("spark_session")
        return file, {"threads": "threads", "duckdb": "sql", "files": "spark"}[engine]

    return found


@pytest.mark.parametrize(("kind", "engine"), [*HERE, *THERE])
def test_the_release_is_the_same(where, kind, engine):
    data, asked = where(engine)
    release, read = published(kind, data, asked)
    assert release == expected(kind)[0]
    assert read == rows_leave(kind, engine)


def test_other_rows_make_another_release_of_every_kind():
    for kind in CURATED:
        assert published(kind, ROWS.slice(2), None)[0] != expected(kind)[0], kind


def test_a_collect_of_rows_is_seen(where):
    with every_kind.rows_read() as read:
        publish(every_kind.planned("histogram"), where("duckdb")[0], engine="threads", rng=rng.seeded(7))
    assert read


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.usefixtures("spark_session")
@pytest.mark.parametrize("kind", COLLECTED)
def test_reports_give_the_release_of_threads(tmp_path, kind):
    reports = reported(kind, tmp_path)
    assert estimated(kind, reports, on_spark) == estimated(kind, reports)


@pytest.mark.slow
@pytest.mark.long
def test_spark_connect_gives_the_releases_of_threads(tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio; .ci/run installs it")
    script = [sys.executable, "-m", "tests.flow.by_connect", str(tmp_path)]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) == {*CURATED, *COLLECTED}
    for kind in CURATED:
        assert found[kind] == [expected(kind)[0], rows_leave(kind, "connect")], kind
    for kind in COLLECTED:
        (folder := tmp_path / "again" / kind).mkdir(parents=True)
        assert found[kind] == estimated(kind, reported(kind, folder)), kind


def test_the_page_states_what_is_tested():
    assert PAGE.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8").split(every_kind.BEGIN)[0] + table()
    assert {engine for kind in CURATED for engine in ENGINES if rows_leave(kind, engine)} == {*ENGINES}
