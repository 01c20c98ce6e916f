"""A device's ledger: the same value is free, a changed one is charged, a crash refunds nothing and breaks nothing."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpress.core.basics.errors import BudgetExceeded, NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.ledger.device_ledger import DeviceLedger, tag

SECRET, COLLECTION = bytes(range(16)), bytes(16)
TWO, FIVE = PureDP(epsilon=2), PureDP(epsilon=5)


def named(value: int, slot: int = 0) -> str:
    return tag(SECRET, collection=COLLECTION, slot=slot, value=value)


@pytest.fixture
def ledger(tmp_path: Path) -> DeviceLedger:
    return DeviceLedger(path=tmp_path / "charges.jsonl")


def test_the_same_value_is_free_and_a_changed_one_is_charged(ledger: DeviceLedger) -> None:
    assert ledger.spent == 0
    found = [ledger.charge(0, named(value), TWO, FIVE) for value in (3, 3, 4, 3, 4)]
    assert found == [True, False, True, False, False]
    assert ledger.spent == 4


def test_slots_are_charged_apart_and_together(ledger: DeviceLedger) -> None:
    assert ledger.charge(0, named(3, 0), TWO, FIVE)
    assert ledger.charge(1, named(3, 1), TWO, FIVE)
    with pytest.raises(BudgetExceeded, match="limit 5; spent 4; asked 2"):
        ledger.charge(2, named(3, 2), TWO, FIVE)
    assert ledger.spent == 4
    assert not ledger.charge(1, named(3, 1), TWO, FIVE)


def test_the_limit_itself_may_be_spent_exactly(ledger: DeviceLedger) -> None:
    third = PureDP(epsilon=Fraction(1, 3))
    for value in range(3):
        assert ledger.charge(0, named(value), third, PureDP(epsilon=1))
    with pytest.raises(BudgetExceeded):
        ledger.charge(0, named(3), PureDP(epsilon="1e-9"), PureDP(epsilon=1))


def test_no_value_is_in_the_file(ledger: DeviceLedger) -> None:
    ledger.charge(0, named(3), TWO, FIVE)
    (line,) = ledger.lines
    assert (line.epsilon, line.slot) == ("2/1", 0)
    assert line.tag == named(3)
    assert named(3) != tag(bytes(16), collection=COLLECTION, slot=0, value=3)
    assert len({named(3), named(4), named(3, 1), tag(SECRET, collection=b"x" * 16, slot=0, value=3)}) == 4
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_every_torn_last_line_is_cut_off_and_the_next_charge_fits_on(ledger: DeviceLedger) -> None:
    ledger.charge(0, named(1), TWO, FIVE)
    whole = ledger.path.read_bytes()
    ledger.charge(0, named(2), TWO, FIVE)
    both = ledger.path.read_bytes()
    for size in range(len(whole), len(both)):
        ledger.path.write_bytes(both[:size])
        assert ledger.spent == 2
        assert ledger.charge(0, named(2), TWO, FIVE)
        assert ledger.path.read_bytes() == both


def test_an_edited_line_stops_the_device(ledger: DeviceLedger) -> None:
    ledger.charge(0, named(1), TWO, FIVE)
    honest = ledger.path.read_text()
    for edited in (
        honest.replace("2/1", "1/1"),
        honest.replace('"slot":0', '"slot":1'),
        "{}\n",
        "\n",
        "\xff\n",
    ):
        ledger.path.write_text(edited, encoding="latin-1")
        with pytest.raises(ValueError, match="line 1 was edited or damaged"):
            ledger.charge(0, named(2), TWO, FIVE)
        assert ledger.path.read_text(encoding="latin-1") == edited


def test_what_it_cannot_count_is_refused(ledger: DeviceLedger) -> None:
    with pytest.raises(NotSupported, match="counts epsilon"):
        ledger.charge(0, named(1), ZCDP(rho=1), FIVE)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 16 bytes"):
        tag(bytes(15), collection=COLLECTION, slot=0, value=0)
    with pytest.raises(ValueError, match="collection must have 16"):
        tag(SECRET, collection=b"", slot=0, value=0)
    with pytest.raises(OSError, match="No such file"):
        DeviceLedger(path=ledger.path / "none" / "x").charge(0, named(1), TWO, FIVE)


@pytest.mark.slow
def test_processes_together_never_overspend(ledger: DeviceLedger) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom dpress.core.basics.losses.pure import PureDP\n"
        "from dpress.core.basics.errors import BudgetExceeded\nfrom dpress.ledger.device_ledger import DeviceLedger\n"
        "ledger, paid = DeviceLedger(path=Path(sys.argv[1])), 0\n"
        "for number in range(40):\n    try:\n"
        "        paid += ledger.charge(0, f'{sys.argv[2]}-{number}', PureDP(epsilon=1), PureDP(epsilon=50))\n"
        "    except BudgetExceeded:\n        pass\nprint(paid)"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(ledger.path), str(name)], stdout=subprocess.PIPE)
        for name in range(3)
    ]
    paid = [int(one.communicate()[0]) for one in running]
    assert sum(paid) == ledger.spent == len(ledger.lines) == 50
