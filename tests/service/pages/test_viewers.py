"""Who looks: one look serves all, looking is bounded in time and number, and who goes away leaves nothing behind."""

import asyncio
import json
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest
import uvicorn
from litestar import Litestar
from tests.service.pages.collections_of import designed, packed, people, refusal
from tests.service.pages.conftest import HANGS

from dpress.data.stored.report_store import Upload
from dpress.data.stored.store_url import open_store
from dpress.service import viewers as module
from dpress.service.live_routes import live_routes
from dpress.service.problem import Problem
from dpress.service.served import Collections
from dpress.service.viewers import KEPT, SHARE, SHORTEST, Viewers

USERS = 400


class Clock:
    """The time that viewers see, which passes only when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


@pytest.fixture
def collection(tmp_path):
    """Return a store with one collection, and what adds reports to it."""
    store = open_store(f"sqlite:///{tmp_path}/reports.db", create=True)
    collections = Collections(store)
    served = collections.add(designed("tables"))
    reports = packed(served.design, people("tables", USERS), tmp_path)

    def add(start, stop):
        own = reports[start:stop]
        store.add([Upload(place=0, reports=len(own), body=b"".join(own))], {})

    return collections, served, add


@pytest.fixture
def counted(monkeypatch):
    """Count how often the store was looked at, and how long a look takes."""
    looks = []
    read = Viewers._read
    monkeypatch.setattr(Viewers, "_read", lambda *arguments: (looks.append(1), read(*arguments))[1])
    return looks


def users(document):
    return json.loads(document)["users"]


def test_many_viewers_cost_one_look_a_second(collection, clock, counted):
    collections, served, add = collection
    viewers = Viewers(collections, stopping=bool)

    async def run():
        add(0, 200)
        found = await asyncio.gather(*(viewers.document(served) for _ in range(50)))
        assert {users(one) for one in found} == {200}
        add(200, USERS)
        clock.now += 0.9 * SHORTEST
        assert users(await viewers.document(served)) == 200
        clock.now += 0.2 * SHORTEST
        assert users(await viewers.document(served)) == USERS

    asyncio.run(run())
    assert len(counted) == 2


def test_looking_takes_a_tenth_of_the_time_however_long_it_takes(collection, clock, monkeypatch):
    collections, served, add = collection
    viewers = Viewers(collections, stopping=bool)
    read, slow = Viewers._read, 7.0

    def slowly(*arguments):
        clock.now += slow
        return read(*arguments)

    monkeypatch.setattr(Viewers, "_read", slowly)

    async def run():
        add(0, 200)
        await viewers.document(served)
        add(200, USERS)
        clock.now += (SHARE - 1) * slow - 0.1
        assert users(await viewers.document(served)) == 200
        clock.now += 0.2
        assert users(await viewers.document(served)) == USERS

    asyncio.run(run())


def test_who_goes_away_during_a_look_does_not_begin_another(collection, monkeypatch):
    collections, served, add = collection
    viewers, begun, go_on = Viewers(collections, stopping=bool), [], threading.Event()
    read = Viewers._read

    def slowly(*arguments):
        begun.append(1)
        assert go_on.wait(HANGS)
        read(*arguments)

    monkeypatch.setattr(Viewers, "_read", slowly)

    async def run():
        add(0, USERS)
        for _ in range(5):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(viewers.document(served), 0.02)
        go_on.set()
        assert users(await viewers.document(served)) == USERS

    asyncio.run(run())
    assert len(begun) == 1


def test_a_look_that_fails_is_tried_again(collection, monkeypatch, clock):
    collections, served, add = collection
    viewers = Viewers(collections, stopping=bool)
    add(0, USERS)

    def gone(*_):
        raise OSError("gone")

    async def run():
        with monkeypatch.context() as patch:
            patch.setattr(collections.store, "keys", gone)
            found = await asyncio.gather(*(viewers.document(served) for _ in range(3)), return_exceptions=True)
            assert [str(one) for one in found] == ["gone"] * 3
            with pytest.raises(OSError, match="a moment ago"):  # and no look so soon
                await viewers.document(served)
        clock.now += 1.1 * SHORTEST
        assert users(await viewers.document(served)) == USERS
        clock.now += 1.1 * SHORTEST
        with monkeypatch.context() as patch:
            patch.setattr(collections.store, "keys", gone)
            for _ in range(2):  # who comes a moment later is not shown what the one before was not
                with pytest.raises(OSError, match=r"gone|a moment ago"):
                    await viewers.document(served)

    asyncio.run(run())


def test_sums_are_let_go_when_nobody_looks(collection, clock):
    collections, served, add = collection
    viewers = Viewers(collections, stopping=bool)

    async def run():
        add(0, USERS)
        await viewers.document(served)
        assert viewers._looks[0].sums.ids.size == USERS
        clock.now += KEPT + 2 * SHORTEST
        viewers._forget()
        assert viewers._looks == {}
        viewers._forget()
        assert users(await viewers.document(served)) == USERS

    asyncio.run(run())


def test_nothing_new_is_not_estimated_again(collection, clock, monkeypatch):
    collections, served, add = collection
    viewers, made = Viewers(collections, stopping=bool), []
    shown = module._shown
    monkeypatch.setattr(module, "_shown", lambda *arguments: (made.append(1), shown(*arguments))[1])

    async def run():
        add(0, USERS)
        for _ in range(3):
            await viewers.document(served)
            clock.now += 2 * SHORTEST
        assert len(made) == 1
        collections.store.close(0)
        collections.refresh()
        assert json.loads(await viewers.document(collections.served(served.round.ask)))["open"] is False
        assert len(made) == 1

    asyncio.run(run())


def test_a_round_whose_reports_were_deleted_says_how_many_and_since_when(collection, clock):
    collections, served, add = collection
    viewers, ask = Viewers(collections, stopping=bool), served.round.ask

    async def document():
        clock.now += 1.1 * SHORTEST
        return json.loads(await viewers.document(collections.served(ask)))

    async def run():
        add(0, 200)
        assert ((await document())["users"], (await document())["deleted"]) == (200, None)
        collections.store.expire([served.round.place])  # another process: this one does not know it yet
        assert ((await document())["users"], (await document())["deleted"]) == (0, None)
        collections.refresh()
        told = await document()
        assert told["waiting"] == "the reports of this round were deleted"
        ended = collections.store.rounds()[0].ended
        assert ended
        assert told["deleted"] == {"reports": 200, "since": ended}

    asyncio.run(run())


def test_a_viewer_hears_what_is_new_and_nothing_twice(collection, monkeypatch):
    collections, _served, add = collection
    monkeypatch.setattr(module, "SHORTEST", 0.01)
    viewers = Viewers(collections, stopping=bool)

    async def run():
        events = viewers.events(collections.all()[0].round.ask)
        assert (
            json.loads((await anext(events)).partition(b"data: ")[2])["waiting"]
            == "there are no reports of this collection"
        )
        assert viewers.watching == 1
        add(0, USERS)
        assert users((await anext(events)).partition(b"data: ")[2]) == USERS
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(events), 0.2)
        await events.aclose()
        assert viewers.watching == 0

    asyncio.run(run())


def test_a_quiet_stream_says_so_now_and_then(collection, monkeypatch):
    collections, _served, _add = collection
    monkeypatch.setattr(module, "SHORTEST", 0.01)
    monkeypatch.setattr(module, "BEAT", 0.05)

    async def run():
        events = Viewers(collections, stopping=bool).events(collections.all()[0].round.ask)
        assert (await anext(events)).startswith(b"event: estimate\n")
        assert await anext(events) == b": nothing new\n\n"
        await events.aclose()

    asyncio.run(run())


def test_a_store_that_is_gone_is_said_and_comes_back(collection, monkeypatch, clock):
    collections, served, add = collection
    monkeypatch.setattr(module, "SHORTEST", 0.01)
    viewers = Viewers(collections, stopping=bool)
    add(0, USERS)

    def gone(*_):
        raise OSError("gone")

    async def run():
        events = viewers.events(served.round.ask)
        with monkeypatch.context() as patch:
            patch.setattr(collections.store, "keys", gone)
            assert b"the store cannot be used now" in await anext(events)
        clock.now += 1
        assert users((await anext(events)).partition(b"data: ")[2]) == USERS
        await events.aclose()

    asyncio.run(run())


@pytest.fixture
def listening(collection):
    """Run the routes of the estimate behind a real server, in a thread."""
    collections, served, _ = collection
    stop = []
    viewers = Viewers(collections, stopping=lambda: bool(stop))
    application = Litestar(
        live_routes(viewers, lambda _: None),
        exception_handlers={Problem: refusal},
        openapi_config=None,
        logging_config=None,
    )
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = uvicorn.Server(uvicorn.Config(application, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        yield viewers, f"http://127.0.0.1:{bound.getsockname()[1]}/v1/collections/{served.round.ask}"
        stop.append(True)
        server.should_exit = True
        thread.join()


def watch(url):
    return urllib.request.urlopen(f"{url}/events")  # noqa: S310  # our own service


def until(holds):
    for _ in range(6000):
        if holds():
            return True
        time.sleep(0.1)
    return False


def test_who_goes_away_frees_the_place(listening, monkeypatch):
    viewers, url = listening
    monkeypatch.setattr(module, "MOST", 2)
    streams = [watch(url) for _ in range(2)]
    assert [one.readline() for one in streams] == [b"event: estimate\n"] * 2
    assert viewers.watching == 2
    with pytest.raises(urllib.error.HTTPError) as refused:
        watch(url)
    refused.value.close()
    assert refused.value.code == 503
    for one in streams:
        one.close()
    assert until(lambda: viewers.watching == 0)
    with watch(url) as again:
        assert again.readline() == b"event: estimate\n"
