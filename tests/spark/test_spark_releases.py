"""The same release whatever counts the rows: all kinds, of a DataFrame and of files; persons bounded by one draw."""

import numpy as np
import pyarrow.csv as pa_csv
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.fold import count, fold
from dpress.data.rows import people
from dpress.data.sources.open_source import open_source
from dpress.data.sources.spark_frame import SparkFrame, SparkRows
from dpress.data.sources.spark_session import quiet
from dpress.data.specification.spec import from_dict
from dpress.data.sql.coded_rows import code_expressions, relation_of
from dpress.data.sql.person_rows import bounded_query
from dpress.data.table import Table
from dpress.data.true_counts import true_counts
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan
from dpress.release.truth.evaluate import evaluate

pytestmark = [pytest.mark.slow, pytest.mark.long]
ATTRIBUTES = (
    {"name": "age", "kind": "integer", "bounds": [17, 90]},
    {"name": "sex", "kind": "categorical", "values": ["Female", "Male"]},
    {"name": "income", "kind": "numeric", "bounds": [0.0, 200000.0], "bins": 20, "null": "cell"},
    {"name": "work", "kind": "categorical", "values": ["Private", "State-gov", "Self-emp-inc"], "other": "Other"},
)
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[-74.03, -73.75], [40.58, 40.9]]}
RELEASES = {
    "tables": {"kind": "marginals", "attributes": ["age", "work", "sex"]},
    "ranges": {"kind": "ranges", "attributes": ["income"]},
    "spatial": {"kind": "spatial", "attributes": ["place"], "method": "uniform_grid"},
    "records": {"kind": "microdata", "attributes": ["age", "sex", "work"], "method": "graphical"},
    "clusters": {"kind": "microdata", "attributes": ["age", "sex"], "method": "dp_prototypes", "parameters": {}},
}


def asked(name):
    release = RELEASES[name]
    attributes = [PLACE] if name == "spatial" else [one for one in ATTRIBUTES if one["name"] in release["attributes"]]
    return plan(from_dict({"attribute": attributes, "privacy": {"epsilon": 1.0}, "release": release}))


@pytest.fixture(scope="module")
def sources(spark, folder, rows, tmp_path_factory):
    """The rows three times, each with the engine that counts them."""
    text = tmp_path_factory.mktemp("rows") / "rows.csv"
    pa_csv.write_csv(rows, text)
    with quiet():
        frame = spark.read.parquet(str(folder))
    return {"frame": frame, "folder": folder, "text": text}


@pytest.mark.parametrize("name", RELEASES)
def test_a_seeded_release_is_the_same_by_every_engine(name, sources, rows):
    made = asked(name)
    kept = publish(made, rows, rng=rng.seeded(7)).kept
    for source, engine in (("frame", None), ("frame", "threads"), ("folder", "spark"), ("text", "spark")):
        found = publish(made, sources[source], engine=engine, rng=rng.seeded(7))
        assert np.array_equal(found.kept, kept), (source, engine)


def test_evaluate_counts_on_spark(sources, rows):
    made = publish(asked("tables"), rows, rng=rng.seeded(7))
    assert evaluate(made, sources["frame"]) == evaluate(made, rows)


def test_a_frame_is_counted_by_a_statement_and_the_rest_by_the_fold(sources, monkeypatch):
    made, statements = asked("tables").design.schema, []
    whole = SparkFrame.fetch
    monkeypatch.setattr(SparkFrame, "fetch", lambda self, of: statements.append(of) or whole(self, of))
    found = true_counts(made, [(0, 1), (2,)], sources["frame"], ROW)
    assert len(statements) == 1
    assert "GROUP BY" in statements[0]
    table = Table(open_source(sources["frame"]), made.names, ROW)
    assert found.tolist() == fold(table, made, count(made.shape, [(0, 1), (2,)])).tolist()
    true_counts(made, [(0,)], open_source(sources["folder"], engine="spark"), ROW)
    assert len(statements) == 1


def test_what_no_statement_codes_is_folded_at_the_workers(spark, monkeypatch):
    from dpress.attributes.domain import Schema
    from dpress.attributes.numbers.attribute import Integer

    schema = Schema((Integer(name="age", bounds=(0, 9), outside="drop"), Integer(name="size", bounds=(0, 9))))
    with quiet():
        frame = spark.createDataFrame([(f" {n % 12}.0 ", n % 10) for n in range(600)], "age string, size int")
    assert len(code_expressions(schema, relation_of(SparkFrame(frame=frame)))) < 2
    monkeypatch.setattr(SparkRows, "batches", None)  # nothing reads rows at the driver
    assert true_counts(schema, [(0,)], frame, ROW).tolist() == [50] * 10
    unit = Unit(relation=ROW.relation, column="size", rows=3)
    assert true_counts(schema, [()], frame, unit).sum() <= 30


def test_a_value_of_any_signs_stands_in_a_statement(spark):
    from dpress.attributes.domain import Schema
    from dpress.attributes.listed.attribute import Categorical

    values = ("a{b}", "{dpress}", "it's", "100 %", "\\")
    schema = Schema((Categorical(name="x {y}`", values=values, other="Other"),))
    with quiet():
        frame = spark.createDataFrame([(one,) for one in (*values, "else", None)], "`x {y}``` string")
    assert true_counts(schema, [(0,)], frame, ROW).tolist() == [1, 1, 1, 1, 1, 2]


def test_a_task_that_always_fails_charges_nothing_and_leaves_no_folder(sources, tmp_path):
    from pyspark.sql.functions import expr

    bad = sources["frame"].withColumn("age", expr("CASE WHEN age = 40 THEN raise_error('secret 42') ELSE age END"))
    for name in ("records", "tables"):
        with pytest.raises(OSError, match=r"^Spark could not count the Spark frame: [^\n]+$") as failed:
            publish(asked(name), bad, ledger=tmp_path / "budget.ledger", out=tmp_path / "release")
        assert "secret" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


def test_a_person_keeps_so_many_rows_in_one_draw(sources, rows):
    schema = asked("tables").design.schema
    unit = Unit(relation=ROW.relation, column="uid", rows=2)
    table = Table(open_source(sources["frame"]), schema.names, unit).drawn()
    persons = np.unique(rows["uid"].to_numpy(), return_counts=True)[1]
    kernel = count(schema.shape, [(0, 1)])
    first = fold(table, schema, kernel)
    assert first.sum() == np.minimum(persons, 2).sum()
    assert np.array_equal(fold(table, schema, kernel), first)
    far = people(Table(open_source(sources["frame"]), schema.names, unit), schema)
    assert np.array_equal(far.fold(kernel), far.fold(kernel))
    assert not np.array_equal(fold(Table(open_source(sources["frame"]), schema.names, unit), schema, kernel), first)
    counted = true_counts(schema, [(0, 1)], sources["frame"], unit)
    assert counted.sum() == first.sum()


def test_a_key_drawn_anew_at_every_pass_would_be_seen(sources, monkeypatch):
    schema = asked("tables").design.schema
    unit = Unit(relation=ROW.relation, column="uid", rows=2)
    monkeypatch.setattr(Table, "drawn", lambda self: self)
    monkeypatch.setattr(Table, "watched", _redrawn(Table.watched))
    far = people(Table(open_source(sources["frame"]), schema.names, unit, since=()), schema)
    with pytest.raises(OSError, match="other rows whenever it is read"):
        far.fold(count(schema.shape, [(0, 1)]))


def _redrawn(watched):
    def anew(self):
        kept = self.source.queried(bounded_query(self.source, self.unit, self.columns), {})
        return watched(Table(open_source(kept.frame), self.columns, ROW, since=()))

    return anew


def test_a_row_without_a_person_is_refused(sources):
    unit = Unit(relation=ROW.relation, column="uid", rows=2)
    bad = sources["frame"].selectExpr("age", "CASE WHEN uid <> 7 THEN uid END AS uid")
    with pytest.raises(SchemaMismatch, match="a row has no 'uid'; every row needs its person"):
        Table(open_source(bad), ("age",), unit).drawn()


def test_persons_in_files_are_drawn_once_at_the_driver(sources, rows):
    schema = asked("tables").design.schema
    unit = Unit(relation=ROW.relation, column="uid", rows=2)
    persons = np.unique(rows["uid"].to_numpy(), return_counts=True)[1]
    far = people(Table(open_source(sources["folder"], engine="spark"), schema.names, unit), schema)
    kernel = count(schema.shape, [(0, 1)])
    first = far.fold(kernel)
    assert first.sum() == np.minimum(persons, 2).sum()
    assert np.array_equal(far.fold(kernel), first)
