"""The same rows give the same counts, and with the same coins the same release, from every source by every engine."""

from functools import cache

import numpy as np
import pytest
from tests.flow.same_rows import FILES, OWN, PERSONS, ROWS, to_postgres

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Unit
from dpress.data.sources.open_source import open_source
from dpress.data.specification.spec import from_dict
from dpress.data.sql import person_rows
from dpress.data.true_counts import true_counts
from dpress.release.curator.publish import publish
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan
from dpress.release.truth.data_check import check
from dpress.release.truth.evaluate import evaluate

pytestmark = pytest.mark.usefixtures("one_short_fit")

AGE = {"name": "age", "kind": "integer", "bounds": [0, 69], "bins": 14, "null": "drop"}
PAY = {"name": "pay", "kind": "numeric", "bounds": [0.0, 1000.0], "bins": 20, "outside": "drop"}
SEX = {"name": "sex", "kind": "categorical", "values": ["M", "F"], "other": "else"}
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[-74.01, -73.7], [40.59, 40.8]],
         "outside": "drop"}  # fmt: skip
YEAR = {"name": "year", "kind": "ordinal", "values": [2020, 2021]}
DAY = {"name": "day", "kind": "date", "bounds": ["2024-01-15", "2024-12-31"], "cells": "month", "null": "drop"}
AT = {"name": "at", "kind": "datetime", "zone": "Europe/Berlin", "bounds": ["2024-03-31", "2024-04-10"],
      "cells": "hour", "outside": "drop"}  # fmt: skip
WHO = {"name": "uid", "kind": "categorical", "values": [f"p {one}" for one in range(40)]}
KINDS = {
    "tables": ([AGE, SEX, YEAR], {"kind": "marginals"}),
    "dates": ([DAY, AT], {"kind": "marginals", "parameters": {"ways": 1}}),
    "ranges": ([PAY], {"kind": "ranges"}),
    "spatial": ([PLACE], {"kind": "spatial", "method": "uniform_grid"}),
    "microdata": ([AGE, SEX], {"kind": "microdata", "method": "graphical"}),
}
MOST = int(max(OWN))
CERTAIN = 40.0  # epsilon under which a device as good as always reports what it has
CASES = [(name, engine) for name, (_, engines) in FILES.items() for engine in engines]
QUICK = [pytest.param(*one, marks=[pytest.mark.slow, pytest.mark.long] if one[1] == "spark" else ()) for one in CASES]
WHOLE = [pytest.param(*one, marks=[pytest.mark.slow, *[pytest.mark.long] * (one[1] == "spark")]) for one in CASES]
PEOPLE = from_dict(
    {"attribute": [WHO], "privacy": {"epsilon": 1.0}, "release": {"kind": "histogram", "attributes": ["uid"]}}
)


@cache
def asked(kind, rows=None):
    attributes, release = KINDS[kind]
    unit = {} if rows is None else {"unit": "uid", "rows_per_unit": rows}
    release = release | {"attributes": [one["name"] for one in attributes]}
    return plan(from_dict({"attribute": attributes, "privacy": {"epsilon": 1.0, **unit}, "release": release}))


def reported():
    release = {"kind": "histogram", "attributes": ["sex"], "method": "krr"}
    return plan(from_dict({"attribute": [SEX], "privacy": {"epsilon": CERTAIN, "model": "local"}, "release": release}))


def kept(design, data, engine):
    return publish(design, data, engine=engine, rng=rng.seeded(7)).kept


def rows_of_each(data, engine, cap):
    """Return how many rows of every person are counted."""
    rows = open_source(data, attributes=PEOPLE.schema.tabular, engine=engine)
    unit = ROW if cap is None else Unit(relation=ROW.relation, column="uid", rows=cap)
    return true_counts(PEOPLE.schema, [(0,)], rows, unit).tolist()


@pytest.fixture
def spark_where_it_counts(request):
    """Start the session of this process where Spark counts."""
    if "spark" in request.node.callspec.params.values():
        request.getfixturevalue("spark_session")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """What makes a source once, by its name."""
    made = {}

    def source(name):
        if name not in made:
            made[name] = FILES[name][0](tmp_path_factory.mktemp(name))
        return made[name]

    return source


@pytest.fixture(scope="module")
def wanted():
    """What Arrow's rows give by threads: of every kind, of rows and of persons who keep all of theirs."""
    return {(kind, rows): kept(asked(kind, rows), ROWS, None) for kind in KINDS for rows in (None, MOST)}


@pytest.mark.usefixtures("spark_where_it_counts")
@pytest.mark.parametrize(("name", "engine"), QUICK)
def test_every_person_keeps_the_cap_or_all_rows(sources, name, engine):
    own = np.bincount(PERSONS)
    for cap in (None, 1, 3, MOST):
        right = own if cap is None else np.minimum(own, cap)
        assert rows_of_each(sources(name), engine, cap) == right.tolist()


@pytest.mark.usefixtures("spark_where_it_counts")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "engine"), WHOLE)
def test_a_seeded_release_is_the_same(sources, wanted, name, engine, kind):
    for rows in (None, MOST):
        assert np.array_equal(kept(asked(kind, rows), sources(name), engine), wanted[kind, rows])


@pytest.mark.parametrize("kind", KINDS)
def test_another_row_gives_another_release(wanted, kind):
    assert not np.array_equal(kept(asked(kind), ROWS.slice(2), None), wanted[kind, None])


@pytest.mark.slow
@pytest.mark.parametrize("table", ["visits", "seen"])
@pytest.mark.parametrize("engine", ["threads", "sql"])
def test_postgres(new_database, wanted, table, engine):
    url = new_database()
    to_postgres(url)
    for kind, rows in wanted:
        assert np.array_equal(kept(asked(kind, rows), f"{url}#{table}", engine), wanted[kind, rows]), (kind, rows)
    for cap in (1, 3):
        assert rows_of_each(f"{url}#{table}", engine, cap) == np.minimum(np.bincount(PERSONS), cap).tolist()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("engine", ["threads", "spark"])
def test_a_frame_of_spark(spark_session, sources, wanted, engine):
    frame = spark_session.read.parquet(str(sources("parquet")))
    for kind, rows in wanted:
        assert np.array_equal(kept(asked(kind, rows), frame, engine), wanted[kind, rows]), (kind, rows)
    for cap in (1, 3):
        assert rows_of_each(frame, engine, cap) == np.minimum(np.bincount(PERSONS), cap).tolist()


@pytest.mark.slow
@pytest.mark.long
def test_a_frame_of_spark_is_checked_and_perturbed(spark_session, sources, tmp_path):
    frame = spark_session.read.parquet(str(sources("parquet")))
    found = check(PEOPLE, frame)
    assert (found.rows, found.kept, found.refused) == (len(ROWS), len(ROWS), ())
    assert perturb(reported(), frame, out=tmp_path / "reports.parquet", rng=rng.seeded(7)) == len(ROWS)


@pytest.mark.usefixtures("spark_where_it_counts")
@pytest.mark.parametrize(("name", "engine"), WHOLE)
def test_evaluation_is_the_same(sources, name, engine):
    for kind in ("tables", "spatial"):
        release = publish(asked(kind), ROWS, rng=rng.seeded(7))
        assert evaluate(release, sources(name), engine=engine) == evaluate(release, ROWS)


@pytest.mark.parametrize("name", FILES)
def test_reports_of_the_same_people(sources, tmp_path, name):
    design = reported()
    reports = perturb(design, sources(name), out=tmp_path / "reports.parquet", rng=rng.seeded(7))
    found = estimate(design, tmp_path / "reports.parquet").kept
    assert reports == len(ROWS)
    right = true_counts(design.design.schema, [(0,)], ROWS, ROW)
    assert np.allclose(found[: len(right)], right)


def test_a_cap_that_is_one_too_many_is_found(sources, monkeypatch):
    right = np.minimum(np.bincount(PERSONS), 3).tolist()
    whole = person_rows.whole
    monkeypatch.setattr(person_rows, "whole", lambda number: whole(number + (number == 3)))
    assert rows_of_each(sources("parquet"), "sql", 3) != right
