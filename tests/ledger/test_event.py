"""Facts and their chain, without a file: what may follow what, and what a row may hold."""

import pytest

from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger import event


def rows_of(*events: event.Event) -> list[event.Row]:
    rows: list[event.Row] = []
    for seq, fact in enumerate(events, start=1):
        rows.append(event.link(fact, seq=seq, previous=rows[-1].hash if rows else event.NO_HASH))
    return rows


OPENING = event.Opening(time="t", limit={"epsilon": "1/1"}, relation=Relation.ADD_REMOVE, column=None, rows=1)
CHARGE = event.Reservation(time="t", id="a", price={"epsilon": "1/10"}, label="", design="")
CONFIRMED = event.Spend(time="t", reservation="a", note="")


@pytest.mark.parametrize(
    ("events", "bad"),
    [
        ((CHARGE,), 1),
        ((OPENING, OPENING), 2),
        ((OPENING, CONFIRMED), 2),
        ((OPENING, CHARGE, CHARGE), 3),
        ((OPENING, CHARGE, CONFIRMED, CONFIRMED), 4),
    ],
)
def test_well_chained_nonsense_is_found_too(events: tuple[event.Event, ...], bad: int) -> None:
    with pytest.raises(ValueError, match=f"row {bad} is out of place"):
        event.replay(rows_of(*events))


@pytest.mark.parametrize("payload", ["{}", "no json", '{"fact":"refund","id":"a"}', '{"fact":"spend","note":1}'])
def test_a_row_that_holds_no_fact_is_named(payload: str) -> None:
    first = rows_of(OPENING)[0]
    row = event.Row(seq=2, payload=payload, previous=first.hash, hash=event.digest(2, payload, first.hash))
    with pytest.raises(ValueError, match="row 2 holds no fact"):
        event.replay([first, row])


def test_facts_survive_writing_and_reading() -> None:
    history = event.replay(rows_of(OPENING, CHARGE, CONFIRMED))
    assert history.opening.loss == PureDP(epsilon=1)
    assert history.reservations[0].loss == PureDP(epsilon=0.1)
    assert history.spends == {"a": CONFIRMED}
    assert (history.rows, history.head) == (3, rows_of(OPENING, CHARGE, CONFIRMED)[-1].hash)
