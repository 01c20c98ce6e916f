"""A service as a process, and reports for it."""

import contextlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.service.pages.collections_of import designed, packed, people

from dpress.document.design import Design
from dpress.query.designs import save_design
from dpress.release.devices.estimate import estimate

TOKEN = "a token of tests, long enough"
HANGS = 3600  # seconds after which a program is taken to hang, on a machine however loaded


@dataclass
class Service:
    """A running service of one collection.

    Args:
        process: of it.
        url: of the collection.
        design: of the collection.
        store: the URL of its store.
    """

    process: subprocess.Popen
    url: str
    design: Design
    store: str

    @property
    def page(self):
        return self.url.replace("/v1/collections/", "/collections/")

    @property
    def survey(self):
        return self.url.replace("/v1/collections/", "/try/")

    def send(self, reports, together=400):
        for start in range(0, len(reports), together):
            self.ask("/reports", b"".join(reports[start : start + together]))

    def ask(self, path="", data=None, *, token=None):
        """Return the status and the JSON that the service answers."""
        headers = {"Content-Type": "application/vnd.dpress.reports"} if data is not None else {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            asked = urllib.request.Request(self.url + path, data, headers)  # noqa: S310  # our own service
            with urllib.request.urlopen(asked) as answer:  # noqa: S310
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.loads(refused.read())

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(HANGS)

    def estimate(self):
        return estimate(self.design, self.store)


@pytest.fixture
def serve(tmp_path):
    """Start the real program on a new collection, of a kind or of a design, and stop it at the end."""
    with contextlib.ExitStack() as stack:

        def started(kind, *options):
            design = kind if isinstance(kind, Design) else designed(kind)
            folder = tmp_path / design.id
            folder.mkdir()
            save_design(design, folder / "design.json")
            (folder / "token").write_text(TOKEN)
            store = f"sqlite:///{folder}/reports.db"
            arguments = ["serve", folder / "design.json", "--store", store, "--port", "0", *options]
            process = subprocess.Popen(
                [sys.executable, "-m", "dpress", *arguments], stdout=subprocess.PIPE, text=True, env={**os.environ}
            )
            stack.callback(process.stdout.close)
            stack.callback(lambda: process.poll() is None and (process.kill(), process.wait()))
            return Service(process, process.stdout.readline().split()[-1], design, store)

        yield started


@pytest.fixture
def with_token(tmp_path):
    """The options of a service with an administrator."""
    path = tmp_path / "token"
    path.write_text(TOKEN)
    return "--admin-token-file", path


@pytest.fixture
def reports(tmp_path):
    """Return the reports of made-up people in a collection."""
    return lambda kind, users, seed=5: packed(designed(kind), people(kind, users), tmp_path, seed)


@pytest.fixture
def client_built():
    """Skip where the package has no client for browsers."""
    import dpress.service

    if not (Path(dpress.service.__file__).with_name("client") / "client.js").is_file():
        pytest.skip("the client for browsers is not built: see clients/js")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def elsewhere(tmp_path):
    """Serve a folder under another origin, as an app would be."""
    root = tmp_path / "app"
    root.mkdir()
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *arguments: Quiet(*arguments, directory=str(root))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield root, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
