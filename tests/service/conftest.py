import contextlib

import pytest
from litestar.testing import TestClient
from tests.service.served import TOKEN

from dpress.service.app import Settings, app
from dpress.service.served import Collections


@pytest.fixture
def application():
    """What gives a client of the application in this process, on a store; and its collections."""
    with contextlib.ExitStack() as stack:

        def make(store, *designs, url="sqlite:///unused.db", token=TOKEN):
            collections = Collections(store)
            for one in designs:
                collections.add(one)
            client = TestClient(app(store, collections, Settings(url=url, token=token)))
            return stack.enter_context(client), collections

        yield make


@pytest.fixture
def serving(application, opened, store_url):
    """The same on a new store, once in SQLite and once in PostgreSQL."""
    return lambda *designs, **more: application(opened(create=True), *designs, url=store_url, **more)
