"""From people to reports to a release, and one report at a time."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from dpress.release.collect import estimate
from dpress.release.local_plan import asked_id
from dpress.release.simulate import perturb

from dpress import load_release, plan
from dpress.core import rng, wire
from dpress.core.claim import PureDP
from dpress.core.errors import BudgetExceeded, NotSupported, ReportRejected, SchemaMismatch
from dpress.data import reports as files
from dpress.data.spec import from_dict
from dpress.ledger.device_ledger import DeviceLedger
from dpress.noise.permanent import Slot
from dpress.release.device import Account, device, intake

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"], "other": "reject"}
PEOPLE = pa.table({"age": [k * k % 10 for k in range(500)], "sex": ["FM"[k % 3 == 0] for k in range(500)]})


def spec(*attributes, epsilon=2.0, method="auto", **parameters):
    release = {"kind": "marginals", "method": method, "parameters": parameters}
    privacy = {"model": "local", "epsilon": epsilon}
    return from_dict({"attribute": list(attributes or (AGE, SEX)), "privacy": privacy, "release": release})


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
    for name, table in release.tables.items():
        assert again.tables[name].equals(table)
    for text in ("age in 2..5", "sex = F", "total"):
        assert again.query(text) == release.query(text)
    assert release.query("total").value == 500
    assert release.query("total").standard_error == 0


def test_reports_of_many_kinds_at_once(collected):
    """Two collections in one file, a repetition, a hole and a wild payload: each counted, none fatal."""
    own = spec(AGE, method="krr")

    def change(table):
        rows = table.to_pylist()
        rows += [rows[0], rows[1] | {"spec": bytes(16), "id": bytes(16)}, rows[2] | {"id": None}]
        rows += [rows[3] | {"payload": b"\xff", "id": b"\1" * 16}, rows[4] | {"payload": b"\0\0", "id": b"\2" * 16}]
        return pa.Table.from_pylist(rows, schema=files.SCHEMA)

    release = collected(own, change=change)
    assert release.users == 500
    assert release.rejected == {
        wire.REPEATED: 1, wire.OTHER_SPEC: 1, wire.MISSING: 1, "out of range": 1, wire.WRONG_LENGTH: 1,
    }  # fmt: skip


def test_no_report_and_only_bad_ones(collected):
    with pytest.raises(SchemaMismatch, match="there are no reports in the file"):
        collected(spec(AGE), change=lambda table: table[:0], name="none")
    other = pa.array([b"x" * 16] * 500, type=pa.binary(16))
    with pytest.raises(
        SchemaMismatch, match=r"^none of the 500 reports belongs to this specification \(500 left out: another spec"
    ):
        collected(spec(AGE), change=lambda table: table.set_column(1, "spec", other))


def test_an_attribute_that_nobody_was_asked_about(collected):
    def first(table):
        return table.filter(pc.equal(table["question"], 0))

    with pytest.raises(SchemaMismatch, match=r"^no report answers a question about 'sex'$"):
        collected(spec(AGE, SEX, method="krr", split="users"), change=first)


def test_arguments_of_a_wrong_type():
    own = device(spec(AGE, method="rr_ldp"))
    with pytest.raises(ValueError, match="the secret must be bytes, got str"):
        own.answer((3,), rng=rng.seeded(1), secret="abc")  # noqa: S106  # no password: a value of a wrong type
    with pytest.raises(ValueError, match=r"rng must be a generator of dpress\.core\.rng, .* got module"):
        own.answer((3,), rng=np, once=True)
    with pytest.raises(ReportRejected, match="a packed report is bytes, got str"):
        intake(spec(AGE)).accept("abc")


def test_one_report(collected):
    release = collected(spec(AGE), people=PEOPLE[:1])
    assert release.users == 1
    assert release.query("age in 0..9").value == 1


def test_no_people_are_refused(tmp_path):
    with pytest.raises(SchemaMismatch, match="row"):
        perturb(spec(AGE), PEOPLE[:0], out=tmp_path / "r.parquet")
    assert not [*tmp_path.iterdir()]


def test_an_unseen_category_is_counted_beside_the_others(collected):
    people = pa.table({"sex": ["F", "M", "X", "F"]})
    release = collected(spec(SEX | {"other": "rest"}, epsilon=900.0, method="krr"), people=people)
    assert release.users == 4
    assert release.tables["table_1.parquet"].num_rows == 3


def test_dropping_would_tell_the_value():
    with pytest.raises(ValueError, match="a device that sends nothing tells that its value is one of them"):
        device(spec(SEX | {"other": "drop"}))


def test_a_rejected_category_or_a_nan_stops_the_simulation_and_leaves_nothing(tmp_path):
    height = {"name": "height", "kind": "numeric", "bounds": [0.0, 2.0], "bins": 4}
    for attribute, people in ((SEX, {"sex": ["F", "X"]}), (height, {"height": [1.0, float("nan")]})):
        with pytest.raises(SchemaMismatch, match="say what to do in"):
            perturb(spec(attribute), pa.table(people), out=tmp_path / "r.parquet")
    assert not [*tmp_path.iterdir()]


def test_reports_belong_to_one_specification(tmp_path):
    perturb(spec(AGE), PEOPLE, out=tmp_path / "r.parquet")
    with pytest.raises(SchemaMismatch, match="500 left out: another specification"):
        estimate(spec(AGE, epsilon=3.0), tmp_path / "r.parquet")


def test_a_table_is_no_collection(tmp_path):
    own = from_dict({"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "marginals"}})
    for call in (lambda: perturb(own, PEOPLE, out=tmp_path / "r.parquet"), lambda: device(own), lambda: intake(own)):
        with pytest.raises(NotSupported, match='reports need model = "local"'):
            call()


def test_a_domain_of_one_value(collected):
    release = collected(spec(AGE | {"bounds": [3, 3]}), people=pa.table({"age": [3] * 7}))
    assert release.query("age = 3").value == 7


@pytest.mark.slow
def test_ten_million_values(collected):
    """A tally of 2^24 rows is kept sparse; the reports of four users cost what they are."""
    big = spec(AGE | {"bounds": [0, 9_999_999]}, method="hadamard", epsilon=8.0)
    assert plan(big).chosen.mechanism.questions[0].width == 4
    release = collected(big, people=pa.table({"age": [0, 5, 5, 9_999_999]}))
    assert release.users == 4


# --- one report at a time


@pytest.mark.parametrize(
    "method", ["krr", "oue", "olh", "hadamard", "subset_selection", "rr_ldp", "rappor", "pcep", "sue"]
)
@pytest.mark.parametrize("split", ["users", "budget"])
def test_what_a_device_sends_is_taken_in(tmp_path, method, split):
    own = spec(method=method, split=split)
    sender, door, generator = device(own), intake(own), rng.seeded(8)
    codes = sender.codes({"age": 7, "sex": "M"})
    assert codes == (7, 1)
    packed = [sender.answer(codes, rng=generator, once=True) for _ in range(60)]
    reports = [door.accept(one) for one in packed]
    assert len({one.id for one in reports}) == 60
    assert {one.question for one in reports} == set(range(len(sender.collection.questions)))
    pq.write_table(files.table(reports), tmp_path / "r.parquet")
    assert estimate(own, tmp_path / "r.parquet").users == 60
    assert not estimate(own, tmp_path / "r.parquet").rejected


def test_what_another_device_sends_is_refused():
    mine, other = spec(AGE, method="krr"), spec(AGE, method="krr", epsilon=1.0)
    packed = device(other).answer((3,), rng=rng.seeded(1))
    with pytest.raises(ReportRejected, match=wire.OTHER_SPEC):
        intake(mine).accept(packed)
    door = intake(mine)
    later = replace(door, expected=replace(door.expected, round=2))
    with pytest.raises(ReportRejected, match=wire.OTHER_ROUND):
        later.accept(device(mine).answer((3,), rng=rng.seeded(1)))


def test_a_device_refuses_what_it_cannot_send():
    own = device(spec(AGE, SEX, method="rappor"))
    generator = rng.seeded(1)
    with pytest.raises(SchemaMismatch, match="attribute sex: a value is not in its cells"):
        own.codes({"age": 3, "sex": "?"})
    with pytest.raises(ValueError, match="expected 2 codes, one for every attribute, got 1"):
        own.answer((1,), rng=generator)
    with pytest.raises(ValueError, match="values must lie between 0 and 9"):
        [own.answer((10, 0), rng=generator, once=True) for _ in range(50)]
    with pytest.raises(ValueError, match="a secret must have 16 to 64 bytes, got 15"):
        own.answer((1, 1), rng=generator, secret=bytes(15))


def test_a_device_keeps_its_permanent_response():
    """With its secret the reports of one value scatter around one string; the specification enters it."""
    own = spec(AGE, method="rappor", f=0.5, epsilon=3.0)
    sender, door = device(own), intake(own)
    assert sender.collection.slot(0, asked_id(own)) == Slot(asked_id(own), 0)
    generator = rng.seeded(2)
    payloads = [door.accept(sender.answer((3,), rng=generator, secret=bytes(range(16)))).payload for _ in range(300)]
    assert len({one[:2] for one in payloads}) == 1  # one cohort for ever
    bits = np.unpackbits(np.frombuffer(b"".join(one[2:] for one in payloads), dtype=np.uint8).reshape(300, -1), axis=1)
    assert (np.minimum(abs(bits.mean(axis=0) - 0.5), abs(bits.mean(axis=0) - 0.75)) < 6 * 0.5 / 300**0.5).all()


def test_with_its_secret_a_device_always_answers_the_same_question():
    """Another question at every round would spend another lifetime's loss; without a secret the lot is fresh."""
    sender, door = device(spec(AGE, SEX, method="krr")), intake(spec(AGE, SEX, method="krr"))
    generator = rng.seeded(4)

    def asked(secret):
        return {door.accept(sender.answer((3, 0), rng=generator, secret=secret)).question for _ in range(30)}

    by_secret = [asked(bytes([number]) * 16) for number in range(30)]
    assert all(len(one) == 1 for one in by_secret)
    assert set.union(*by_secret) == {0, 1}
    assert asked(None) == {0, 1}


def test_a_permanent_response_needs_a_secret_or_a_single_report():
    sender = device(spec(AGE, method="rr_ldp"))
    with pytest.raises(ValueError, match="keeps a permanent response: pass the device's secret, or once=True"):
        sender.answer((3,), rng=rng.seeded(1))
    assert sender.answer((3,), rng=rng.seeded(1), once=True)


def test_what_changes_nothing_for_a_device_changes_no_permanent_response():
    """Another number of users or another round is another file of reports, and the same coins."""
    plain = spec(AGE, method="rr_ldp", f=0.5)
    same = [spec(AGE, method="rr_ldp", f=0.5, users=77), spec(AGE, method="rr_ldp", f=0.5, round=3)]
    assert all(asked_id(one) == asked_id(plain) and one.hash != plain.hash for one in same)
    assert asked_id(spec(AGE, method="rr_ldp", f=0.6)) != asked_id(plain)
    later, secret = device(same[1]), bytes(range(16))
    report = wire.unpack(later.answer((3,), rng=rng.seeded(1), secret=secret))
    assert report.round == 3
    collections = [(device(one).collection, asked_id(one)) for one in (plain, *same)]
    secrets = np.frombuffer(secret, dtype=np.uint8)[None]
    responses = [
        own.questions[0]
        .oracles[0]
        .permanent(np.array([3]), rng=rng.seeded(9), secrets=secrets, slot=own.slot(0, name))
        .tolist()
        for own, name in collections
    ]
    assert responses[0] == responses[1] == responses[2]


def test_an_account_is_charged_once_for_a_value_and_refuses_what_it_cannot_pay(tmp_path):
    sender, generator, secret = device(spec(AGE, method="rr_ldp", f=0.5)), rng.seeded(3), bytes(range(16))
    lifetime = sender.collection.questions[0].oracles[0].lifetime.epsilon
    account = Account(ledger=DeviceLedger(path=tmp_path / "own.jsonl"), limit=PureDP(epsilon=2 * lifetime))
    for code in (3, 3, 3, 5, 3):
        sender.answer((code,), rng=generator, secret=secret, account=account)
    assert account.ledger.spent == 2 * lifetime
    with pytest.raises(BudgetExceeded, match="a new value needs a new permanent response"):
        sender.answer((4,), rng=generator, secret=secret, account=account)
    fresh = device(spec(AGE, method="krr", epsilon=1.0))
    other = Account(ledger=DeviceLedger(path=tmp_path / "fresh.jsonl"), limit=PureDP(epsilon=2))
    [fresh.answer((3,), rng=generator, account=other) for _ in range(2)]
    with pytest.raises(BudgetExceeded):
        fresh.answer((3,), rng=generator, account=other)


def test_a_void_report_takes_no_other_one_s_place(collected):
    own = spec(AGE, method="krr")

    def change(table):
        void = table.set_column(table.schema.get_field_index("method"), "method", pa.array(["oue"] * table.num_rows))
        return pa.concat_tables([void, table, table.slice(0, 20)])

    release = collected(own, change=change)
    assert release.users == 500
    assert release.rejected == {wire.OTHER_METHOD: 500, wire.REPEATED: 20}


def test_reports_of_a_seeded_generator_are_stamped(tmp_path):
    own = spec(AGE, method="krr")
    perturb(own, PEOPLE, out=tmp_path / "seeded.parquet", rng=rng.seeded(5))
    perturb(own, PEOPLE, out=tmp_path / "secure.parquet")
    seeded, secure = (estimate(own, tmp_path / f"{name}.parquet") for name in ("seeded", "secure"))
    assert (seeded.private, secure.private) == (False, True)
    assert seeded.claim.proven is None
    assert secure.claim.proven == PureDP(epsilon=2)
