"""Rounds close at their end, by hand or by schedule, for good; and one round follows, whoever begins it."""

import threading
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
from tests.service.served import TOKEN, TYPE, changed, design, numbered, reports

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import from_dict
from dpress.data.stored.report_store import Upload
from dpress.document.design import decode, encode
from dpress.query.designs import load_design
from dpress.release.devices.device import device
from dpress.release.devices.estimate import estimate
from dpress.release.devices.export import export
from dpress.release.devices.next_round import NEXT
from dpress.release.plan.plan import design_of
from dpress.service import app as application_of
from dpress.service import reports_route, round_changes, served

START = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ENDS = ["2030-01-02T00:00:00Z", "2030-01-03T00:00:00Z", "2030-01-04T00:00:00Z"]
ADMIN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def clock(monkeypatch):
    """What sets the time of the service; its own looks at the clock are left to the tests."""
    moment = [START]
    for module in (application_of, reports_route, round_changes, served):
        monkeypatch.setattr(module, "now", lambda: moment[0])
    monkeypatch.setattr(application_of, "LOOK", 3600)

    def set_(days):
        moment[0] = START + days * DAY

    return set_


def send(client, ask, body):
    return client.post(f"/v1/collections/{ask}/reports", content=body, headers={"Content-Type": TYPE})


def test_a_round_that_ended_stays_closed_when_the_clock_goes_back(serving, store_url, clock, opened):
    asked = design(ends=ENDS[:1])
    client, collections = serving(asked)
    assert client.get(f"/v1/collections/{asked.id}").json()["until"] == ENDS[0]
    assert send(client, asked.id, numbered(asked, 0, 5)).status_code == 200
    round_changes.turn(collections, store_url)
    assert client.get(f"/v1/collections/{asked.id}").json()["open"]
    clock(days=1)
    assert send(client, asked.id, numbered(asked, 5, 5)).status_code == 409  # at once, before anybody looks
    round_changes.turn(collections, store_url)
    clock(days=0)
    round_changes.turn(collections, store_url)
    assert send(client, asked.id, numbered(asked, 5, 5)).status_code == 409
    assert opened().reports(0) == 5
    assert len(opened().rounds()) == 1


def test_an_upload_that_arrives_when_its_round_is_closed_elsewhere(serving, opened):
    """This process still thinks that the round is open; the store knows better."""
    asked = design()
    client, _ = serving(asked)
    opened().close(0)
    answer = send(client, asked.id, numbered(asked, 0, 5))
    assert (answer.status_code, answer.json()["current"]) == (409, asked.id)
    assert opened().reports(0) == 0


def test_a_schedule_moves_on_by_itself(serving, store_url, clock, opened):
    asked = design(ends=ENDS)
    client, collections = serving(asked)
    for number in range(3):
        clock(days=number + 0.5)
        round_changes.turn(collections, store_url)
        body = b"".join(changed(one, round=number) for one in reports(asked, 4 + number))
        assert send(client, asked.id, body).json() == {"accepted": 4 + number, "duplicates": 0, "refused": []}
        told = client.get(f"/v1/collections/{asked.id}").json()
        assert (told["round"], told["rounds"], told["until"], told["open"]) == (number, 3, ENDS[number], True)
    clock(days=9)
    for _ in range(3):
        round_changes.turn(collections, store_url)
    assert [one.closed for one in opened().rounds()] == [True] * 3
    assert [opened().reports(place) for place in range(3)] == [4, 5, 6]
    assert [decode(one.design).round for one in opened().rounds()] == [0, 1, 2]
    assert client.post(f"/v1/collections/{asked.id}/next", headers=ADMIN).status_code == 200  # by hand any number


def test_a_service_that_was_away_catches_up(serving, store_url, clock, opened):
    asked = design(ends=ENDS)
    _, collections = serving(asked)
    clock(days=2.5)
    for _ in range(3):
        round_changes.turn(collections, store_url)
    assert [(one.number, one.closed) for one in opened().rounds()] == [(0, True), (1, True), (2, False)]


def ahead(ends=None):
    """Return the design of a collection in three rounds that build on each other."""
    place = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 8], [0, 8]]}
    release = {"kind": "spatial", "method": "ahead", "parameters": {"users": 3000, "rounds": 3, "height": 4}}
    told = {"attribute": [place], "privacy": {"model": "local", "epsilon": 2}, "release": release}
    return design_of(from_dict(told | ({} if ends is None else {"collection": {"ends": ends}})))


def test_a_round_without_reports_holds_up_no_other_collection(serving, store_url, clock, opened):
    stuck, asked = ahead(ends=ENDS), design(ends=ENDS)
    _, collections = serving(stuck, asked)
    clock(days=1.5)
    round_changes.turn(collections, store_url)
    assert [(one.ask, one.number) for one in opened().rounds()] == [(stuck.id, 0), (asked.id, 0), (asked.id, 1)]


def test_a_look_at_the_clock_that_fails_is_not_the_last(serving, monkeypatch):
    looks, enough = [], threading.Event()

    def turn(_, url):
        looks.append(url)
        if len(looks) == 3:
            enough.set()
        raise (OSError, ValueError, KeyError)[len(looks) % 3]

    monkeypatch.setattr(application_of, "LOOK", 0.01)
    monkeypatch.setattr(round_changes, "turn", turn)
    serving(design())
    assert enough.wait(timeout=3600)


def answers(asked, users, secrets=10_000):
    """Return what devices with secrets send in this round; those of other rounds send nothing."""
    sender, generator, found = device(asked), rng.seeded(asked.round), []
    for user in range(users):
        codes = sender.codes({"x": user * user % 97 / 20, "y": user * user * user % 89 / 30})
        try:
            found.append(sender.answer(codes, rng=generator, secret=(user + secrets).to_bytes(16, "big")))
        except NotSupported:
            continue
    return found


@pytest.mark.slow
def test_rounds_that_build_on_each_other(serving, store_url, tmp_path, opened):
    """What the service begins and what comes of it at last is what files of the same reports give."""
    first, users = ahead(), 900
    client, collections = serving(first)
    asked, of_files, sent = first, first, 0
    for number in range(3):
        packed = answers(asked, users)
        sent += len(packed)
        assert send(client, asked.id, b"".join(packed)).json() == {
            "accepted": len(packed),
            "duplicates": 0,
            "refused": [],
        }
        assert client.post(f"/v1/collections/{asked.id}/close", headers=ADMIN).json()["open"] is False
        begun = client.post(f"/v1/collections/{asked.id}/next", headers=ADMIN)
        again = client.post(f"/v1/collections/{asked.id}/next", headers=ADMIN)
        export(asked, store_url, out=tmp_path / f"{number}.parquet")
        estimate(of_files, tmp_path / f"{number}.parquet", out=tmp_path / f"files{number}")
        estimate(asked, store_url, out=tmp_path / f"store{number}")
        late = send(client, asked.id, b"".join(packed[:5]))
        assert late.status_code == 409
        if number == 2:
            break
        of_files = load_design(tmp_path / f"files{number}" / NEXT)
        assert begun.json() == again.json() == {"id": of_files.id, "round": number + 1}
        assert late.json()["current"] == client.get(f"/v1/collections/{asked.id}").json()["next"] == of_files.id
        asked = collections.served(begun.json()["id"]).design
        assert encode(asked) == encode(of_files)
    assert begun.status_code == 409
    assert begun.json()["detail"] == "this was the last round"
    assert sent == users  # every device answered in one round
    assert len(opened().rounds()) == 3
    tables = sorted(path.name for path in (tmp_path / "files2").glob("*.parquet"))
    assert tables
    for one in tables:
        assert pq.read_table(tmp_path / "files2" / one).equals(pq.read_table(tmp_path / "store2" / one)), one


@pytest.mark.slow
@pytest.mark.parametrize("building", [False, True])
def test_two_services_on_one_store_begin_one_round(application, opened, store_url, clock, building):
    asked = ahead(ends=ENDS) if building else design(ends=ENDS)
    one, two = opened(create=True), opened(create=True)
    first, own = application(one, asked, url=store_url)
    second, other = application(two, asked, url=store_url)
    packed = answers(asked, 300) if building else reports(asked, 50)
    half = len(packed) // 2
    assert send(first, asked.id, b"".join(packed[:half])).status_code == 200
    assert send(second, asked.id, b"".join(packed[half:])).status_code == 200
    clock(days=1.5)
    start, failures = threading.Barrier(4), []

    def turns(collections):
        start.wait()
        try:
            round_changes.turn(collections, store_url)
        except Exception as error:  # noqa: BLE001  # shown below
            failures.append(error)

    def late(store):
        start.wait()
        kept = [store.add([Upload(place=0, reports=1, body=packed[0])], {}) for _ in range(20)]
        refused = [place for place, closed in enumerate(kept) if closed]
        if refused and any(not closed for closed in kept[refused[0] :]):
            failures.append("an upload was kept after one was refused")

    threads = [threading.Thread(target=turns, args=(each,)) for each in (own, other)]
    threads += [threading.Thread(target=late, args=(each,)) for each in (one, two)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
    stored = opened()
    assert [(each.number, each.closed) for each in stored.rounds()] == [(0, True), (1, False)]
    counted = stored.reports(0)
    following = stored.rounds()[1]
    for client in (first, second):
        own.refresh()
        other.refresh()
        answer = send(client, asked.id, packed[0])
        assert (answer.status_code, answer.json()["current"]) == (409, following.ask)
    assert stored.reports(0) == counted
