"""Names and sums over persons that Spark's workers count: those of threads; no row comes to the driver."""

import numpy as np
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.table_sums import Sums
from dpress.data.count_names import name_counting
from dpress.data.person_totals import person_totals
from dpress.data.sources.open_source import open_source
from dpress.data.sources.spark_frame import SparkRows
from dpress.data.sources.spark_session import quiet
from dpress.data.table import Table

pytestmark = [pytest.mark.slow, pytest.mark.long]
WORK = Categorical(name="work", values="discover", other="Other")
PERSONS = Unit(relation=ROW.relation, column="uid", rows=100)
AGE = Schema((Integer(name="age", bounds=(17, 90)),))


@pytest.fixture
def no_rows_here(monkeypatch):
    """Let nothing read rows at the driver."""
    monkeypatch.setattr(SparkRows, "batches", None)
    monkeypatch.setattr(Table, "batches", None)


@pytest.fixture
def sources(spark, folder):
    """The rows twice, by the way that Spark reads them."""
    with quiet():
        return {"folder": open_source(folder, engine="spark"), "frame": open_source(spark.read.parquet(str(folder)))}


def same(found, expected):
    assert found.names == expected.names
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.unnamed == expected.unnamed


def test_names_are_counted_at_the_workers(sources, rows, monkeypatch, request):
    units = {"folder": Unit(), "frame": PERSONS}
    asked = [(None, None), ([3, 2, 1, *[1] * 97], None), ([3, 2, 1, *[1] * 97], ["Private", "x", "nobody"])]
    wanted = {name: [name_counting(WORK, rows, unit)(*own) for own in asked] for name, unit in units.items()}
    request.getfixturevalue("no_rows_here")
    monkeypatch.setattr("dpress.data.sql_names.sql_names", lambda *_of, **_how: None)  # as of a column it cannot name
    for name, unit in units.items():
        for own, expected in zip(asked, wanted[name], strict=True):
            same(name_counting(WORK, sources[name], unit)(*own), expected)


@pytest.mark.usefixtures("no_rows_here")
def test_what_the_specification_refuses_is_one_line(sources):
    strict = Categorical(name="work", values="discover", null="reject")
    with pytest.raises(SchemaMismatch, match=r"^attribute work: a value is missing; say what to do in `null`$"):
        name_counting(strict, sources["folder"], ROW)(None, None)


def test_no_rows_are_refused_and_no_names_are_none(sources):
    with pytest.raises(SchemaMismatch, match="has no rows"):
        name_counting(WORK, sources["frame"].source.frame.limit(0), PERSONS)([1], ["Private"])
    assert name_counting(WORK, sources["folder"], ROW)([1], []).names == ()


def by_person(codes, persons):
    """Return how many persons have rows of one age, or of more."""
    ages = np.unique(np.stack([persons, codes[0]]), axis=1)[0]
    return (
        np.array([np.count_nonzero(np.bincount(ages) == 1), np.unique(persons).size]) if ages.size else np.zeros(2, int)
    )


def test_sums_over_persons_are_those_of_one_table(sources, rows, request):
    sums = Sums(of_rows=lambda codes: np.array([codes.shape[1]]), of_persons=by_person)
    expected = person_totals(AGE, sums, rows, PERSONS)
    assert expected[0] == 30_000
    assert person_totals(AGE, sums, sources["folder"], PERSONS).tolist() == expected.tolist()  # at the driver
    request.getfixturevalue("no_rows_here")
    seen = []
    assert person_totals(AGE, sums, sources["frame"], PERSONS, progress=seen.append).tolist() == expected.tolist()
    assert seen == [30_000]


def test_persons_that_are_split_over_workers_are_seen(sources, rows, monkeypatch):
    from dpress.data.spark import spark_persons

    sums = Sums(of_rows=lambda codes: np.array([codes.shape[1]]), of_persons=by_person)
    monkeypatch.setattr(
        spark_persons, "by_person", lambda table, _persons: spark_persons.frame_of(table).repartition(4)
    )
    found = person_totals(AGE, sums, sources["frame"], PERSONS)
    assert found.tolist() != person_totals(AGE, sums, rows, PERSONS).tolist()
