import contextlib

import pytest
from litestar.testing import TestClient
from tests.service.served import TOKEN

from dpress.service.app import Settings, app
from dpress.service.served import Collections


@pytest.fixture
def serving(opened, store_url):
    """What gives a client of the application in this process, on the store; and its collections."""
    with contextlib.ExitStack() as stack:

        def make(*designs, store=None, token=TOKEN):
            own = store or opened(create=True)
            collections = Collections(own)
            for one in designs:
                collections.add(one)
            client = TestClient(app(own, collections, Settings(url=store_url, token=token)))
            return stack.enter_context(client), collections

        yield make
