"""A device in collections, rounds and permanent responses, its ledger copied, put back or lost, its program killed."""

import functools
import shutil
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from tests.release.people import AGE, spec

from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded, NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.ledger.device_ledger import DeviceLedger
from dpress.mechanisms.protocol.report_type import ReportType
from dpress.query.designs import load_design
from dpress.release.devices import device as devices
from dpress.release.devices.device import Account, Device, device
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import NEXT
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan

pytestmark = pytest.mark.slow

PLACE = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 8], [0, 8]]}
PEOPLE = pa.table({"x": [(k * k % 97) / 20 for k in range(600)], "y": [(k * k * k % 89) / 30 for k in range(600)]})
LIMIT = PureDP(epsilon=12)


@functools.cache
def rounds():
    """Return the designs of two rounds of one collection."""
    release = {"kind": "spatial", "method": "ahead", "parameters": {"users": 600, "rounds": 2, "height": 2}}
    first = plan(from_dict({"attribute": [PLACE], "privacy": {"model": "local", "epsilon": 1}, "release": release}))
    with tempfile.TemporaryDirectory() as folder:
        perturb(first, PEOPLE, out=Path(folder) / "reports.parquet", rng=rng.seeded(1))
        estimate(first.design, Path(folder) / "reports.parquet", out=Path(folder) / "round")
        return first.design, load_design(Path(folder) / "round" / NEXT)


@functools.cache
def senders():
    """Return devices by what they answer: once for every report, for ever, or in one of two rounds."""
    first, second = rounds()
    return {
        "each": device(spec(AGE, method="krr", epsilon=1.0)),
        "ever": device(spec(AGE, method="rr_ldp", f=0.5)),
        "round 0": device(first),
        "round 1": device(second),
    }


def cost(what):
    part = senders()[what].collection.types[0].parts[0]
    return part.lifetime.epsilon if what == "ever" else part.oracle.claim.proven.epsilon


class OneDevice(RuleBasedStateMachine):
    """What was sent, by every file of a ledger; a file that is put back has what was sent when it was kept."""

    def __init__(self):
        super().__init__()
        self.place, self.rng, self.names = Path(tempfile.mkdtemp()), rng.seeded(1), 0
        self.histories, self.kept, self.reported = {self.place / "own.jsonl": []}, [], set()
        self.between = None
        real = ReportType.perturb

        def perturbed(this, *args, **options):
            if self.between is not None:
                happens, self.between = self.between, None
                happens()
            return real(this, *args, **options)

        self.patch = mock.patch.object(ReportType, "perturb", perturbed)
        self.patch.start()

    @initialize(number=st.integers(0, 5))
    def begin(self, number):
        """The device has a secret."""
        self.secret = bytes([number, *range(31)])

    def send(self, what, value, book):
        account = Account(ledger=DeviceLedger(path=book), limit=LIMIT)
        codes = (value,) if what in ("each", "ever") else (value, value)
        try:
            senders()[what].answer(
                codes[: len(senders()[what].collection.shape)], rng=self.rng, secret=self.secret, account=account
            )
        except (BudgetExceeded, NotSupported) as error:
            SEEN[type(error).__name__] += 1
            return
        except KeyboardInterrupt:
            SEEN["killed"] += 1
            return
        SEEN["sent"] += 1
        self.histories[book].append((what, value))
        self.reported.add(what)

    def killed(self):
        raise KeyboardInterrupt

    @rule(data=st.data(), what=st.sampled_from(["each", "ever", "round 0", "round 1"]), value=st.integers(0, 3))
    def answer(self, data, what, value):
        """Answer; the program may be killed between charge and report, or another one answers meanwhile."""
        book = data.draw(st.sampled_from(sorted(self.histories)))
        other = functools.partial(self.send, "each", value, book)
        self.between = data.draw(st.sampled_from([None, None, self.killed, other]))
        self.send(what, value, book)
        self.between = None
        for path, history in self.histories.items():
            due = sum((cost(one) for one, _ in history if one != "ever"), Fraction(0))
            due += cost("ever") * len({value for one, value in history if one == "ever"})
            assert due <= DeviceLedger(path=path).spent <= LIMIT.epsilon, "sent, and not paid"
        assert not {"round 0", "round 1"} <= self.reported, "one device in two rounds"

    @rule(data=st.data(), what=st.sampled_from(["copy", "keep", "lose"]))
    def handle(self, data, what):
        """The ledger is copied, kept, or lost."""
        book = data.draw(st.sampled_from(sorted(self.histories)))
        self.names += 1
        target = self.place / f"{self.names}.{what}"
        if what == "lose":
            book.unlink(missing_ok=True)
            self.histories[book] = []
        elif book.exists():
            shutil.copy(book, target)
            if what == "keep":
                self.kept.append((target, book, [*self.histories[book]]))
            else:
                self.histories[target] = [*self.histories[book]]

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def put_back(self, data):
        """An older copy is put back."""
        copy, book, history = data.draw(st.sampled_from(self.kept))
        shutil.copy(copy, book)
        self.histories[book] = [*history]

    def teardown(self):
        """Leave nothing behind."""
        self.patch.stop()
        shutil.rmtree(self.place)


SEEN: Counter = Counter()


def search(examples):
    """Run sequences of steps, the same every day."""
    SEEN.clear()
    chosen = settings(
        max_examples=examples, stateful_step_count=20, deadline=None, derandomize=True, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    run_state_machine_as_test(OneDevice, settings=chosen)


def test_what_a_device_sends_was_paid_and_is_of_one_round():
    search(40)
    assert SEEN["sent"] > 80
    assert min(SEEN["killed"], SEEN["BudgetExceeded"], SEEN["NotSupported"]) > 0


def test_a_response_that_is_never_charged_again_is_found(monkeypatch):
    """A planted fault: what was charged once by this slot is free, whatever the value."""
    real = devices.tag
    monkeypatch.setattr(devices, "tag", lambda secret, **named: real(secret, **named | {"value": 0}))
    with pytest.raises(AssertionError, match="sent, and not paid"):
        search(40)


def test_a_device_that_draws_its_round_anew_is_found(monkeypatch):
    """A planted fault: the round is drawn without the secret."""
    monkeypatch.setattr(Device, "_type", lambda *_, **__: 0)
    with pytest.raises(AssertionError, match="one device in two rounds"):
        search(40)


def test_reports_that_are_not_charged_are_found(monkeypatch):
    """A planted fault: every third report is free."""
    calls, real = Counter(), DeviceLedger.charge

    def charge(self, slot, own, loss, limit):
        calls["all"] += 1
        return calls["all"] % 3 and real(self, slot, own, loss, limit)

    monkeypatch.setattr(DeviceLedger, "charge", charge)
    with pytest.raises(AssertionError, match="sent, and not paid"):
        search(40)
