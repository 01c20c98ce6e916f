"""Real processes: a race for the last of the budget, and kill -9 in the middle of anything."""

import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger, verify

pytestmark = pytest.mark.slow

RACER = """
import sys
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.errors import BudgetExceeded
from dpress.ledger.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
try:
    while True:
        print(Ledger.open(sys.argv[1]).reserve(PureDP(epsilon=0.1), Unit(), label="race", design=""), flush=True)
except BudgetExceeded:
    pass
"""

SPENDER = """
import sys
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
ledger = Ledger.open(sys.argv[1])
while True:
    ticket = ledger.reserve(PureDP(epsilon=1e-3), Unit(), label="loop", design="")
    print("reserved", ticket, flush=True)
    ledger.spend(ticket, "done")
    print("spent", ticket, flush=True)
"""

CREATOR = """
import sys
from pathlib import Path
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
for number in range(10**6):
    Ledger.create(Path(sys.argv[1]) / f"{number}.db", limit=PureDP(epsilon=1), unit=Unit())
    print(number, flush=True)
"""


def start(code: str, argument: Path | str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, str(argument)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def kill_after(process: "subprocess.Popen[str]", lines: int, pause: float) -> list[str]:
    """Read some lines, wait a moment, kill -9; return every line the process got out."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    time.sleep(pause)
    process.kill()
    rest, _ = process.communicate()
    return [line for line in "".join([*said, rest]).splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.parametrize("repeat", range(5))
def test_processes_racing_for_the_last_budget_get_exactly_what_there_is(book: Ledger, repeat: int) -> None:
    del repeat
    path = book.path
    racers = [start(RACER, path) for _ in range(4)]
    assert [racer.stdout.readline() for racer in racers if racer.stdout] == ["ready\n"] * 4
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = [racer.communicate()[0].split() for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4
    tickets = [ticket for tickets in won for ticket in tickets]
    summary = Ledger.open(path).summary()
    assert len(tickets) == 10
    assert sorted(tickets) == sorted(entry.reservation for entry in summary.entries)
    assert summary.spent == {"epsilon": Fraction(1)}


def test_threads_share_one_ledger_object(book: Ledger) -> None:
    refused: list[BudgetExceeded] = []

    def race() -> None:
        try:
            for _ in range(4):
                book.reserve(PureDP(epsilon=0.1), Unit(), label="x", design="")
        except BudgetExceeded as error:
            refused.append(error)

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert book.summary().spent == {"epsilon": Fraction(1)}
    assert refused


def test_no_acknowledged_charge_is_lost_to_kill_9(ledger_place: Path | str) -> None:
    path = ledger_place
    Ledger.create(path, limit=PureDP(epsilon=1000), unit=Unit())
    reserved: set[str] = set()
    spent: set[str] = set()
    known: dict[str, bool] = {}
    for attempt in range(25):
        said = kill_after(start(SPENDER, path), lines=1 + 7 * attempt % 11, pause=attempt * 7e-4)
        reserved |= {line.split()[1] for line in said if line.startswith("reserved")}
        spent |= {line.split()[1] for line in said if line.startswith("spent")}
        summary = Ledger.open(path).summary()
        entries = {entry.reservation: entry.confirmed for entry in summary.entries}
        assert reserved <= entries.keys()
        assert all(entries[ticket] for ticket in spent)
        assert known.keys() <= entries.keys(), "a charge vanished"
        assert summary.spent == {"epsilon": len(entries) * Fraction(1, 1000)}
        assert summary.rows == 1 + len(entries) + sum(entries.values())
        known = entries
    assert len(known) >= len(reserved) >= 25


def test_a_creation_killed_anywhere_leaves_a_ledger_or_nothing(tmp_path: Path) -> None:
    whole = 0
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        said = kill_after(start(CREATOR, folder), lines=1 + attempt % 4, pause=attempt * 2e-3)
        whole += len(said)
        assert all(verify(folder / f"{line.strip()}.db").rows == 1 for line in said)
        last = folder / f"{len(said)}.db"
        try:
            assert verify(last).rows == 1
        except (ValueError, FileNotFoundError):
            Ledger.create(last, limit=PureDP(epsilon=1), unit=Unit())
    assert whole >= 10
