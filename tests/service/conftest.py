import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from litestar.testing import TestClient
from tests.service.served import TOKEN, design

from dpress.query.designs import save_design
from dpress.service.app import Settings, app
from dpress.service.served import Collections

SCRIPT = Path(__file__).with_name("forked_service.py")
OPEN = 1000  # connections at a time


@dataclass(frozen=True)
class Running:
    """A service in a process of its own."""

    process: int
    port: int

    @property
    def memory(self):
        """Bytes that are resident."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    @property
    def descriptors(self):
        """How many are open."""
        return len(list(Path(f"/proc/{self.process}/fd").iterdir()))


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


@pytest.fixture
def asked():
    """The design of a collection."""
    return design()


@pytest.fixture
def service(tmp_path, asked):
    """What starts a service that writes to reports.db; the modes are those of forked_service.py."""
    save_design(asked, tmp_path / "design.json")
    with contextlib.ExitStack() as stack:

        def start(*mode):
            command = [sys.executable, SCRIPT, tmp_path / "design.json", f"sqlite:///{tmp_path / 'reports.db'}", *mode]
            program = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(program.stdin.close)
            print(file=program.stdin, flush=True)
            process, port = map(int, program.stdout.readline().split())
            stack.callback(os.kill, process, signal.SIGKILL)
            return Running(process, port)

        yield start


@pytest.fixture
def connected():
    """What opens a connection and sends some bytes; all are closed at the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * OPEN)), hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

        def connect(port, sent=b"", *, window=None):
            own = stack.enter_context(socket.socket())
            if window is not None:  # bytes that the kernel takes for who does not read
                own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
            own.connect(("127.0.0.1", port))
            own.sendall(sent)
            return own

        yield connect
