"""Which reports expire, and what is deleted with a collection."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from tests.service.served import design, numbered

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.stored.report_store import Upload
from dpress.data.stored.store_url import open_store
from dpress.document.design import encode
from dpress.release.devices.estimate import estimate
from dpress.release.devices.retention import delete, expire, listed

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
ENDS = "2026-06-01T00:00:00Z", "2026-08-01T00:00:00Z"


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/reports.db"


@pytest.fixture
def store(url):
    """One collection whose first round has ended and whose second has not, and another one without ends."""
    own = open_store(url, create=True)
    scheduled, plain = design(ends=[datetime.fromisoformat(one) for one in ENDS]), design(cells=12)
    for place, asked in enumerate((scheduled, scheduled, plain)):
        own.begin(asked.id, place % 2, encode(msgspec.structs.replace(asked, round=place % 2)))
        own.add([Upload(place=place, reports=20, body=numbered(asked, 20 * place, 20))], {(place, "late"): place})
    yield own
    own.disconnect()


def states(store, now=NOW):
    return [(one.state, one.ended and one.ended.isoformat(), one.reports) for one in listed(store, now=now)]


def test_rounds_end_by_their_design_or_by_hand(store):
    assert states(store) == [("closed", "2026-06-01", 20), ("open", None, 20), ("open", None, 20)]
    store.close(2)
    today = datetime.now(UTC).date().isoformat()
    assert states(store)[2] == ("closed", today, 20)


@pytest.mark.parametrize(("days", "gone"), [(31, 0), (30, 1), (0, 1)])
def test_reports_expire_so_many_days_after_the_end_of_their_round(store, days, gone):
    assert [one.round.place for one in expire(store, days=days, now=NOW)] == [0] * gone
    assert [reports for *_, reports in states(store)] == [20 * (1 - gone), 20, 20]
    assert expire(store, days=days, now=NOW) == []  # once
    assert states(store)[0][0] == ("expired" if gone else "closed")


def test_an_end_that_has_not_come_expires_nothing(store):
    before = datetime.fromisoformat(ENDS[0]) - timedelta(seconds=1)
    assert expire(store, days=0, now=before) == []


def test_what_expired_is_not_estimated(store, url):
    asked = listed(store, now=NOW)[0].design
    assert estimate(asked, url).users == 20
    expire(store, days=30, now=NOW)
    with pytest.raises(ValueError, match="the 20 reports of round 0 were deleted from the store"):
        estimate(asked, url)


def test_a_collection_goes_with_all_its_rounds(store):
    asked = listed(store, now=NOW)[0].design
    assert [one.round.number for one in delete(store, asked.id)] == [0, 1]
    assert [one.round.place for one in listed(store, now=NOW)] == [2]
    with pytest.raises(SchemaMismatch, match="the store has no collection"):
        delete(store, asked.id)
    assert states(store) == [("open", None, 20)]
