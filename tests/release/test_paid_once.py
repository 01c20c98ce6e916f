"""No sequence of what may happen to folders, ledgers and processes yields two draws that were paid once."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.release.paid_once import TOTALS, Curator, CuratorOfPersons

from dpress.ledger import ledger as ledgers
from dpress.ledger.ledger import Ledger
from dpress.release.curator import publish as whole
from dpress.release.periods import publish_period as periods
from dpress.release.periods import series
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.series import Series

pytestmark = pytest.mark.slow


class Racers(Curator):
    """Whoever publishes, another process publishes by the same ledger between their look and their charge."""

    def happening(self, draw, book):  # noqa: ARG002  # drawn from elsewhere
        """Return the other process, always."""
        return "counted", lambda: self._single("histogram", self.place / "b", book)


def search(machine, examples):
    """Run sequences of steps, the same every day."""
    TOTALS.clear()
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("machine", [Curator, CuratorOfPersons])
def test_what_is_seen_was_paid_each_by_itself(machine):
    search(machine, 60)
    assert TOTALS["drawn"] > 100  # or nothing was searched
    assert min(TOTALS["killed"], TOTALS["refused"], TOTALS["older copy"]) > 0


def counters_paid_when_they_begin(monkeypatch):
    """Once there is a span, the ledger is asked for nothing more."""
    real = periods.publish

    def publish(*args, out, ledger, payment, **options):
        paid = "layer" in payment.partition and any(out.parent.glob("*/release.json"))
        return real(*args, out=out, ledger=None if paid else ledger, payment=payment, **options)

    monkeypatch.setattr(periods, "publish", publish)


def parts_charged_once(monkeypatch):
    """A part that was charged is not charged again."""
    reserve, spend = Ledger.reserve, Ledger.spend

    def reserved(self, loss, unit, *, partition=None, **options):
        there = [one.reservation for one in self.summary().entries if partition and one.partition == partition]
        return there[0] if there else reserve(self, loss, unit, partition=partition, **options)

    def spent(self, ticket, note):
        if not any(one.reservation == ticket and one.confirmed for one in self.summary().entries):
            spend(self, ticket, note)

    monkeypatch.setattr(Ledger, "reserve", reserved)
    monkeypatch.setattr(Ledger, "spend", spent)


def nothing_looked_at_in_the_transaction(monkeypatch):
    """A price is compared with what is left when a release begins, not when it is charged."""
    real, checked = ledgers._afford, Ledger.check_all

    def check_all(self, charges, unit, *analyst):
        with monkeypatch.context() as patch:
            patch.setattr(ledgers, "_afford", real)
            checked(self, charges, unit, *analyst)

    monkeypatch.setattr(Ledger, "check_all", check_all)
    monkeypatch.setattr(ledgers, "_afford", lambda *_: None)


def no_look_beside(monkeypatch):
    """Releases beside a new one are not asked for heads."""
    monkeypatch.setattr(whole, "heads_beside", lambda *_: {})


def no_look_within(monkeypatch):
    """Nor are those that a series keeps."""
    monkeypatch.setattr(series, "verify", lambda *_, **__: None)
    monkeypatch.setattr(whole, "heads_beside", lambda *_: {})


def no_ledger_needed(monkeypatch):
    """A series that a ledger paid for goes on without one."""
    real = Series.check_ledger
    monkeypatch.setattr(Series, "check_ledger", lambda self, own: None if own is None else real(self, own))


def persons_in_one_period(monkeypatch):
    """A person is said to count in one period, and counts in two."""
    monkeypatch.setattr(Calendar, "touched", 1)


@pytest.mark.parametrize(
    ("machine", "fault", "message"),
    [
        (Curator, counters_paid_when_they_begin, "drawn twice, and paid once"),
        (Curator, parts_charged_once, "drawn twice, and paid once"),
        (Racers, nothing_looked_at_in_the_transaction, "paid too little"),
        (Curator, no_look_beside, "an older copy of it"),
        (Curator, no_look_within, "an older copy of it"),
        (Curator, no_ledger_needed, "drawn without the ledger that paid"),
        (CuratorOfPersons, persons_in_one_period, "paid too little"),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, machine, fault, message):
    fault(monkeypatch)
    with pytest.raises(AssertionError, match=message):
        search(machine, 120)
