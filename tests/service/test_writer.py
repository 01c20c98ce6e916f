"""The thread that writes: what waits together is kept together, and every sender hears of its own."""

import asyncio
import threading

import pytest

from dpress.data.stored.report_store import Upload
from dpress.service import writer as writer_of
from dpress.service.outages import Outages
from dpress.service.writer import Writer


class Store:
    """Keeps uploads in memory; a commit waits until it is let go."""

    def __init__(self, closed=()):
        self.commits, self.refused, self.closed, self.gone = [], [], set(closed), False
        self.let_go = threading.Event()
        self.let_go.set()

    def add(self, uploads, refused):
        assert self.let_go.wait(timeout=3600)
        self.commits.append(list(uploads))
        self.refused.append(dict(refused))
        return {one.place for one in uploads} & self.closed

    def disconnect(self):
        self.gone = True


def upload(number, *, place=0, size=4):
    return Upload(place=place, reports=2, body=bytes([number]) * size)


def kept(store, uploads, refused=None):
    """Let all uploads wait behind a first one, and return what each of them hears."""

    async def run():
        own = Writer(store=store, outages=Outages())
        own.start()
        store.let_go.clear()
        first = asyncio.create_task(own.keep(upload(0), {}))
        await asyncio.sleep(0.05)  # it is taken off the queue, or it goes with the others: both are right
        waiting = [asyncio.create_task(own.keep(one, refused or {})) for one in uploads]
        await asyncio.sleep(0)
        held = own.bytes_waiting
        store.let_go.set()
        heard = await asyncio.gather(first, *waiting)
        own.stop()
        return heard[1:], held, own.bytes_waiting

    return asyncio.run(run())


def test_what_waits_together_is_one_commit():
    store = Store()
    heard, held, left = kept(store, [upload(number) for number in range(1, 50)], {"late": 2})
    assert heard == [True] * 49
    assert (held, left) == (200, 0)
    assert len(store.commits) <= 2
    assert sorted(b"".join(one.body for commit in store.commits for one in commit)) == sorted(
        b"".join(bytes([number]) * 4 for number in range(50))
    )
    assert sum(one.reports for commit in store.commits for one in commit) == 100
    assert sum(own.get((0, "late"), 0) for own in store.refused) == 98
    assert store.gone


def test_a_row_tells_nothing_of_the_order_of_arrival():
    store = Store()
    kept(store, [upload(number) for number in range(1, 50)])
    (row,) = store.commits[-1]
    order = list(row.body[::4])
    assert order != sorted(order)  # chance 1 / 49!, of an order that is drawn anew


def test_rows_are_of_one_round_and_of_bounded_size(monkeypatch):
    monkeypatch.setattr(writer_of, "ROW", 100)
    store = Store()
    kept(store, [upload(number, place=number % 2, size=30) for number in range(1, 41)])
    rows = store.commits[-1]
    assert {one.place for one in rows} == {0, 1}
    assert all(set(number % 2 for number in one.body if number) <= {one.place} for one in rows)  # noqa: C401
    assert all(len(one.body) <= 130 for one in rows)
    assert sum(len(one.body) for commit in store.commits for one in commit) == 40 * 30 + 4


def test_a_commit_is_of_bounded_size(monkeypatch):
    monkeypatch.setattr(writer_of, "TOGETHER", 100)
    store = Store()
    heard, _, _ = kept(store, [upload(number, size=30) for number in range(1, 41)])
    assert heard == [True] * 40
    assert all(sum(len(one.body) for one in commit) < 130 for commit in store.commits)
    assert len(store.commits) >= 10


def test_only_senders_of_a_closed_round_hear_so():
    store = Store(closed={1})
    heard, _, _ = kept(store, [upload(number, place=number % 3) for number in range(1, 31)])
    assert heard == [number % 3 != 1 for number in range(1, 31)]


def test_a_sender_that_is_gone_is_not_told_and_stops_nobody():
    store = Store()

    async def run():
        own = Writer(store=store, outages=Outages())
        own.start()
        store.let_go.clear()
        gone = asyncio.create_task(own.keep(upload(1), {}))
        stays = asyncio.create_task(own.keep(upload(2), {}))
        await asyncio.sleep(0.01)
        gone.cancel()
        store.let_go.set()
        assert await stays
        with pytest.raises(asyncio.CancelledError):
            await gone
        own.stop()
        return own.bytes_waiting

    assert asyncio.run(run()) == 0


def test_what_waits_is_kept_when_the_service_stops():
    store = Store()

    async def run():
        own = Writer(store=store, outages=Outages())
        own.start()
        store.let_go.clear()
        waiting = [asyncio.create_task(own.keep(upload(number), {})) for number in range(20)]
        await asyncio.sleep(0.01)
        stopping = threading.Thread(target=own.stop)
        stopping.start()
        store.let_go.set()
        heard = await asyncio.gather(*waiting)
        await asyncio.to_thread(stopping.join)
        return heard

    assert asyncio.run(run()) == [True] * 20
    assert sum(len(one.body) for commit in store.commits for one in commit) == 80
