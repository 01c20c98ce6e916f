"""From people to reports to a release."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.release.people import AGE, PEOPLE, SEX, spec

from dpress import load_release, plan
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports import wire
from dpress.data.reports.report_batch import SCHEMA
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb


@pytest.fixture
def collected(tmp_path):
    """Perturb and estimate, with a look at the file of reports in between."""

    def run(own, people=PEOPLE, change=lambda table: table, out=None, name="reports"):
        path = tmp_path / f"{name}.parquet"
        perturb(own, people, out=path, rng=rng.seeded(5))
        pq.write_table(change(pq.read_table(path)), path)
        return estimate(own, path, out=out)

    return run


@pytest.mark.parametrize("split", ["users", "budget"])
@pytest.mark.parametrize("method", ["krr", "oue", "hadamard", "rr_ldp"])
def test_a_release_is_read_back_as_it_was(collected, tmp_path, split, method):
    release = collected(spec(method=method, split=split), out=tmp_path / "out")
    assert release.users == 500
    again = load_release(tmp_path / "out")
    assert again.manifest() == release.manifest()
    for name, table in release.answers.all_tables.items():
        assert again.answers.all_tables[name].equals(table)
    for text in ("age in 2..5", "sex = F", "total"):
        assert again.query(text) == release.query(text)
    assert release.query("total").value == 500
    assert release.query("total").standard_error == 0


def test_reports_of_many_kinds_at_once(collected):
    """Two collections in one file, a repetition, a hole and a wild payload: each counted, none fatal."""
    own = spec(AGE, method="krr")

    def change(table):
        rows = table.to_pylist()
        rows += [rows[0], rows[1] | {"ask": bytes(16), "id": bytes(16)}, rows[2] | {"id": None}]
        rows += [rows[3] | {"payload": b"\xff", "id": b"\1" * 16}, rows[4] | {"payload": b"\0\0", "id": b"\2" * 16}]
        return pa.Table.from_pylist(rows, schema=SCHEMA)

    release = collected(own, change=change)
    assert release.users == 500
    assert release.rejected == {
        wire.REPEATED: 1, wire.OTHER_ASK: 1, wire.MISSING: 1, "out of range": 1, wire.WRONG_LENGTH: 1,
    }  # fmt: skip


def test_no_report_and_only_bad_ones(collected):
    with pytest.raises(SchemaMismatch, match="there are no reports"):
        collected(spec(AGE), change=lambda table: table[:0], name="none")
    other = pa.array([b"x" * 16] * 500, type=pa.binary(16))
    with pytest.raises(
        SchemaMismatch,
        match=r"^none of the 500 reports belongs to this collection \(500 left out: another collection\); "
        r"estimate with the design that the devices were sent: one that was edited since asks something else$",
    ):
        collected(spec(AGE), change=lambda table: table.set_column(1, "ask", other))


def test_an_attribute_that_nobody_was_asked_about(collected):
    def first(table):
        return table.filter(pc.equal(table["report_type"], 0))

    with pytest.raises(SchemaMismatch, match=r"^no report is about 'sex'$"):
        collected(spec(AGE, SEX, method="krr", split="users"), change=first)


def test_one_report(collected):
    release = collected(spec(AGE), people=PEOPLE[:1])
    assert release.users == 1
    assert release.query("age in 0..9").value == 1


def test_an_unseen_category_is_counted_beside_the_others(collected):
    people = pa.table({"sex": ["F", "M", "X", "F"]})
    release = collected(spec(SEX | {"other": "rest"}, epsilon=900.0, method="krr"), people=people)
    assert release.users == 4
    assert release.answers.all_tables["sex.parquet"].num_rows == 3


def test_reports_belong_to_one_collection(tmp_path):
    perturb(spec(AGE), PEOPLE, out=tmp_path / "r.parquet")
    with pytest.raises(SchemaMismatch, match="500 left out: another collection"):
        estimate(spec(AGE, epsilon=3.0), tmp_path / "r.parquet")


def test_a_domain_of_one_value(collected):
    release = collected(spec(AGE | {"bounds": [3, 3]}), people=pa.table({"age": [3] * 7}))
    assert release.query("age = 3").value == 7


@pytest.mark.slow
def test_ten_million_values(collected):
    """A tally of 2^24 rows is kept sparse; the reports of four users cost what they are."""
    big = spec(AGE | {"bounds": [0, 9_999_999]}, method="hadamard", epsilon=8.0)
    assert plan(big).chosen.mechanism.types[0].width == 4
    release = collected(big, people=pa.table({"age": [0, 5, 5, 9_999_999]}))
    assert release.users == 4


def test_a_void_report_takes_no_other_one_s_place(collected):
    own = spec(AGE, method="krr")

    def change(table):
        void = table.set_column(1, "ask", pa.array([bytes(16)] * table.num_rows, type=pa.binary(16)))
        return pa.concat_tables([void, table, table.slice(0, 20)])

    release = collected(own, change=change)
    assert release.users == 500
    assert release.rejected == {wire.OTHER_ASK: 500, wire.REPEATED: 20}


def test_reports_of_a_seeded_generator_are_stamped(tmp_path):
    own = spec(AGE, method="krr")
    perturb(own, PEOPLE, out=tmp_path / "seeded.parquet", rng=rng.seeded(5))
    perturb(own, PEOPLE, out=tmp_path / "secure.parquet")
    seeded, secure = (estimate(own, tmp_path / f"{name}.parquet") for name in ("seeded", "secure"))
    assert (seeded.private, secure.private) == (False, True)
    assert seeded.claim.proven is None
    assert secure.claim.proven == PureDP(epsilon=2)
