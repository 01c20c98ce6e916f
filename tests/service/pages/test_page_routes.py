"""Who may look, what the pages and the client are served with, and how a service that is looked at ends."""

import base64
import hashlib
import signal
import urllib.request

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from tests.service.pages.collections_of import designed, refusal
from tests.service.pages.conftest import TOKEN

from dpress.data.stored.store_url import open_store
from dpress.service.app import Settings, app
from dpress.service.client_routes import client_routes
from dpress.service.problem import Problem
from dpress.service.served import Collections

STUB = b"var dpress = {};"


@pytest.fixture
def client(tmp_path):
    """Return a client of the application with these settings."""

    def made(**settings):
        url = f"sqlite:///{tmp_path}/reports.db"
        store = open_store(url, create=True)
        collections = Collections(store)
        ask = collections.add(designed("tables")).round.ask
        return TestClient(app(store, collections, Settings(url=url, **settings))), ask

    return made


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("path", ["estimate", "events"])
def test_without_public_only_the_administrator_may_look(client, path):
    served, ask = client(token=TOKEN)
    address = f"/v1/collections/{ask}/{path}"
    with served:
        assert served.get(address).status_code == 401
        assert served.get(address, headers=bearer("wrong")).status_code == 401
        assert served.get(f"/v1/collections/{ask}/estimate", headers=bearer(TOKEN)).json()["waiting"]
        assert served.get(f"/v1/collections/{ask}").status_code == 200  # what is asked is public


def test_without_public_and_without_a_token_nobody_may_look(client):
    served, ask = client()
    with served:
        refused = served.get(f"/v1/collections/{ask}/estimate")
        assert refused.status_code == 404
        assert "--public" in refused.json()["detail"]
        assert served.get(f"/v1/collections/{ask}/rounds").status_code == 404


def test_with_public_everybody_may_look_and_nobody_else_sees_the_counters(client):
    served, ask = client(token=TOKEN, public=True)
    with served:
        found = served.get(f"/v1/collections/{ask}/estimate")
        assert found.headers["cache-control"] == "no-store"
        assert found.json()["waiting"] == "there are no reports of this collection"
        assert served.get(f"/v1/collections/{'0' * 64}/estimate").status_code == 404
        assert served.get(f"/v1/collections/{ask}/rounds").status_code == 401
        (own,) = served.get(f"/v1/collections/{ask}/rounds", headers=bearer(TOKEN)).json()["rounds"]
        numbers = {"reports": 0, "deleted": 0, "refused": {}}
        assert own == {"id": ask, "round": 0, "open": True, "until": None, **numbers}


def test_the_public_document_has_the_words_for_people(client):
    served, ask = client()
    with served:
        said = served.get(f"/v1/collections/{ask}").json()
    assert (said["title"], said["contact"]) == ("Who rides", "Ann")
    assert said["proven"] == {"epsilon": 2.0}
    assert said["words"] == [
        {"kind": "value", "columns": ["age"], "title": "Age"},
        {"kind": "value", "columns": ["sex"], "title": "sex", "labels": ["Female", "Male", "else"]},
    ]


@pytest.mark.parametrize("page", ["collections", "try"])
def test_a_page_may_ask_nobody_else_and_no_other_page_may_frame_it(client, page):
    served, ask = client(public=True)
    with served:
        found = served.get(f"/{page}/{ask}")
        assert found.headers["content-type"].startswith("text/html")
        policy = dict(one.strip().split(" ", 1) for one in found.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        again = served.get(f"/{page}/{ask}", headers={"If-None-Match": found.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert served.get("/pages/elsewhere.js").status_code == 404
        assert served.get("/pages/..%2fapp.py").status_code == 404


def test_the_client_is_kept_for_good_under_the_address_with_its_hash(tmp_path):
    (tmp_path / "client.js").write_bytes(STUB)
    with TestClient(Litestar(client_routes(tmp_path), openapi_config=None, logging_config=None)) as served:
        stated = served.get("/v1/client").json()
        assert list(stated) == ["client.js"]
        own = stated["client.js"]
        assert own["integrity"] == "sha384-" + base64.b64encode(hashlib.sha384(STUB).digest()).decode()
        found = served.get(f"/client.js?v={own['version']}")
        assert (found.content, found.headers["content-type"].partition(";")[0]) == (STUB, "text/javascript")
        assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
        for address in ("/client.js", "/client.js?v=another"):
            assert served.get(address).headers["cache-control"] == "public, max-age=300"


def test_a_package_without_the_client_says_so(tmp_path):
    routes = client_routes(tmp_path)
    with TestClient(
        Litestar(routes, exception_handlers={Problem: refusal}, openapi_config=None, logging_config=None)
    ) as served:
        assert served.get("/v1/client").json() == {}
        assert served.get("/client.mjs").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_is_stopped_ends_its_streams_and_exits_with_0(serve, number):
    service = serve("tables", "--public")
    with urllib.request.urlopen(f"{service.url}/events") as stream:  # noqa: S310  # our own service
        assert stream.readline() == b"event: estimate\n"
        assert service.stop(number) == 0
        assert b"there are no reports" in stream.read()
