"""One report at a time: what a device sends, what a collector takes in, and what either refuses."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.reading import table_of
from tests.release.people import AGE, SEX, spec

from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded, ReportRejected, SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports import wire
from dpress.document.design import collection_id
from dpress.ledger.device_ledger import DeviceLedger
from dpress.mechanisms.oracle import bloom_filters, longitudinal
from dpress.noise.permanent import Slot
from dpress.release.devices import device as release_device
from dpress.release.devices.device import Account, device, intake
from dpress.release.devices.estimate import estimate
from dpress.release.plan.plan import plan


def test_arguments_of_a_wrong_type():
    own = device(spec(AGE, method="rr_ldp"))
    with pytest.raises(ValueError, match="the secret must be bytes, got str"):
        own.answer((3,), rng=rng.seeded(1), secret="abc")  # noqa: S106  # no password: a value of a wrong type
    with pytest.raises(ValueError, match=r"rng must be a generator of .*, got builtins\.module"):
        own.answer((3,), rng=np, once=True)
    with pytest.raises(ReportRejected, match="a packed report is bytes, got str"):
        intake(spec(AGE)).accept("abc")


def test_dropping_would_tell_the_value():
    with pytest.raises(ValueError, match="a device that sends nothing tells that its value is one of them"):
        device(spec(SEX | {"other": "drop"}))


@pytest.mark.parametrize(
    "method", ["krr", "oue", "olh", "hadamard", "subset_selection", "rr_ldp", "rappor", "pcep", "sue", "pgr"]
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
    assert {one.report_type for one in reports} == set(range(len(sender.collection.types)))
    pq.write_table(table_of(reports), tmp_path / "r.parquet")
    assert estimate(own, tmp_path / "r.parquet").users == 60
    assert not estimate(own, tmp_path / "r.parquet").rejected


def test_what_another_device_sends_is_refused():
    mine, other = spec(AGE, method="krr"), spec(AGE, method="krr", epsilon=1.0)
    packed = device(other).answer((3,), rng=rng.seeded(1))
    with pytest.raises(ReportRejected, match=wire.OTHER_ASK):
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
    for codes in ((10, 0), (-1, 0), (1.5, 0)):
        with pytest.raises(ValueError, match="attribute age: expected a code from 0 to 9"):
            own.answer(codes, rng=generator, once=True)
    with pytest.raises(ValueError, match="a secret must have 16 to 64 bytes, got 15"):
        own.answer((1, 1), rng=generator, secret=bytes(15))


@pytest.mark.parametrize("method", ["krr", "rappor", "rr_ldp"])
def test_what_cannot_be_sent_is_charged_nothing(tmp_path, method):
    own = device(spec(AGE, SEX, method=method))
    account = Account(ledger=DeviceLedger(path=str(tmp_path / "charges.jsonl")), limit=PureDP(epsilon=100))
    wrong = (
        {"codes": (99, 1)},
        {"codes": (1, -1)},
        {"codes": (1,)},
        {"secret": b"x"},
        {"rng": np},
        {"codes": (1, 0.5)},
    )
    for change in wrong:
        with pytest.raises(ValueError, match=r"code|secret|rng"):
            own.answer(**{"codes": (1, 1), "rng": rng.seeded(1), "secret": bytes(16), "account": account} | change)
    assert account.ledger.spent == 0
    own.answer((1, 1), rng=rng.seeded(1), secret=bytes(16), account=account)
    assert account.ledger.spent > 0


def test_a_device_keeps_its_permanent_response():
    """With its secret the reports of one value scatter around one string; the collection enters it."""
    own = spec(AGE, method="rappor", f=0.5, epsilon=3.0)
    sender, door = device(own), intake(own)
    name = collection_id(sender.design.ask)
    assert sender.collection.slot(0, name) == Slot(name, 0)
    generator = rng.seeded(2)
    payloads = [door.accept(sender.answer((3,), rng=generator, secret=bytes(range(16)))).payload for _ in range(300)]
    assert len({one[:2] for one in payloads}) == 1  # one cohort for ever
    bits = np.unpackbits(np.frombuffer(b"".join(one[2:] for one in payloads), dtype=np.uint8).reshape(300, -1), axis=1)
    assert (np.minimum(abs(bits.mean(axis=0) - 0.5), abs(bits.mean(axis=0) - 0.75)) < 6 * 0.5 / 300**0.5).all()


def test_with_its_secret_a_device_always_answers_the_same_report_type():
    """Another type at every round would spend another lifetime's loss; without a secret it is drawn afresh."""
    sender, door = device(spec(AGE, SEX, method="krr")), intake(spec(AGE, SEX, method="krr"))
    generator = rng.seeded(4)

    def asked(secret):
        return {door.accept(sender.answer((3, 0), rng=generator, secret=secret)).report_type for _ in range(30)}

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
    """Another number of users or another round is another design, of another file of reports, and the same coins."""
    plain = plan(spec(AGE, method="rr_ldp", f=0.5)).design
    same = [plan(spec(AGE, method="rr_ldp", f=0.5, **own)).design for own in ({"users": 77}, {"round": 3})]
    assert all(one.id == plain.id and one != plain for one in same)
    assert plan(spec(AGE, method="rr_ldp", f=0.6)).design.id != plain.id
    later, secret = device(same[1]), bytes(range(16))
    report = wire.unpack(later.answer((3,), rng=rng.seeded(1), secret=secret))
    assert report.round == 3
    with pytest.raises(ReportRejected, match=wire.OTHER_ROUND):
        intake(plain).accept(wire.pack(report))
    secrets = np.frombuffer(secret, dtype=np.uint8)[None]
    responses = []
    for design in (plain, *same):
        own = device(design).collection
        slot = own.slot(0, collection_id(design.ask))
        (oracle,) = own.types[0].oracles
        responses.append(oracle.permanent(np.array([3]), rng=rng.seeded(9), secrets=secrets, slot=slot).tolist())
    assert responses[0] == responses[1] == responses[2]
    other = own.slot(0, collection_id(plan(spec(AGE, method="rr_ldp", f=0.6)).design.ask))
    assert oracle.permanent(np.array([3]), rng=rng.seeded(9), secrets=secrets, slot=other).tolist() != responses[0]


def test_an_account_is_charged_once_for_a_value_and_refuses_what_it_cannot_pay(tmp_path):
    sender, generator, secret = device(spec(AGE, method="rr_ldp", f=0.5)), rng.seeded(3), bytes(range(16))
    lifetime = sender.collection.types[0].oracles[0].lifetime.epsilon
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


def three(users, **parameters):
    """Return a design of three attributes; how devices are asked depends on how many there are expected to be."""
    attributes = [{"name": name, "kind": "integer", "bounds": [0, 1]} for name in ("a", "b", "c")]
    return plan(spec(*attributes, epsilon=1.65, method="rr_ldp", users=users, **parameters)).design


def test_the_number_of_users_renews_permanent_responses_only_where_it_changes_what_is_asked():
    few, many, more = three(2), three(10_000), three(20_000)
    assert (few.split, many.split, more.split) == ("budget", "users", "users")
    names = [collection_id(own.ask) for own in (few, many, more)]
    assert names[1] == names[2] != names[0]
    assert collection_id(three(10_000, split="budget").ask) == names[0]
    assert collection_id(three(2, split="users").ask) == names[1]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_an_account_pays_for_every_way_of_asking_once_in_any_order(tmp_path, order):
    """All attributes with a part each, one attribute with all of it, and the latter again under another number."""
    secret, generator = bytes(range(16)), rng.seeded(4)
    designs = [three(2), three(10_000), three(20_000)]
    due = {}
    for design in designs:
        parts = device(design).collection.types[0].parts
        due[collection_id(design.ask)] = sum(part.lifetime.epsilon for part in parts)
    assert len(due) == 2
    ledger, paid = DeviceLedger(path=tmp_path / "own.jsonl"), set()
    account = Account(ledger=ledger, limit=PureDP(epsilon=sum(due.values())))
    for place in order:
        for _ in range(2):
            device(designs[place]).answer((1, 0, 1), rng=generator, secret=secret, account=account)
        paid.add(collection_id(designs[place].ask))
        assert ledger.spent == sum(due[name] for name in paid)
    with pytest.raises(BudgetExceeded):
        device(designs[0]).answer((0, 0, 1), rng=generator, secret=secret, account=account)


@pytest.mark.parametrize("method", ["oue", "rappor"])
def test_what_depends_on_the_design_alone_is_found_once(monkeypatch, method):
    found = []
    for module, name in ((release_device, "collection_id"), (bloom_filters, "positions"), (longitudinal, "log_up")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, real=real, name=name: found.append(name) or real(*given))
    own, generator = device(spec(AGE, method=method)), rng.seeded(1)
    own.answer((3,), rng=generator, secret=bytes(16))
    assert "collection_id" in found  # the control: it is asked for at all
    found.clear()
    for _ in range(5):
        own.answer((3,), rng=generator, secret=bytes(16))
    assert found == []


def test_a_response_to_more_combinations_than_numbers_of_eight_bytes_is_charged_once(tmp_path):
    many = [{"name": f"a{number}", "kind": "integer", "bounds": [0, 999]} for number in range(8)]
    own = device(plan(spec(*many, method="rr_ldp", split="budget")).design)
    ledger = DeviceLedger(path=tmp_path / "own.jsonl")
    account = Account(ledger=ledger, limit=PureDP(epsilon=1000))
    generator, spent = rng.seeded(6), []
    for codes in ((999,) * 8, (999,) * 8, (999,) * 7 + (998,)):
        own.answer(codes, rng=generator, secret=bytes(range(16)), account=account)
        spent.append(ledger.spent)
    assert 0 < spent[0] == spent[1] < spent[2]
