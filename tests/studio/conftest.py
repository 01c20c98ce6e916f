"""A studio on made-up rows, of which one value stands in no other place."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from litestar.testing import TestClient

from dpress.studio.draft import Column, Draft, Wish
from dpress.studio.guard import Guard
from dpress.studio.routes import app
from dpress.studio.session import Session

TOKEN = "a token of tests, long enough"
RARE = "quetzalcoatlus"  # in the rows, and nowhere else


@pytest.fixture
def rows(tmp_path):
    """A file of made-up rows."""
    table = pa.table(
        {
            "uid": [one // 2 for one in range(600)],
            "age": [one % 90 for one in range(600)],
            "sex": ["f", "m", "f"] * 200,
            "pet": [RARE, *["cat"] * 599],
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


@pytest.fixture
def draft(rows):
    """What somebody may have typed about them."""
    columns = [
        Column(name="uid"),
        Column(name="age", use=True, kind="integer", low="0", high="99", bins="10"),
        Column(name="sex", use=True, kind="categorical", values="f = female\nm = male\n", other="unknown"),
        Column(name="pet", use=True, kind="categorical", values="cat\ndog", other="another"),
    ]
    return Draft(source=str(rows), columns=columns, unit="row", users="600", wishes=[Wish(name="marginals-1")])


@pytest.fixture
def session(tmp_path, draft):
    """The work of somebody who typed that."""
    found = Session.at(tmp_path / "work", draft.source)
    found.keep(draft)
    return found


@pytest.fixture
def client(session):
    """A client of the studio's application, in this process, that has the token."""
    guard = Guard(TOKEN, ("127.0.0.1:8080",))
    headers = {"host": "127.0.0.1:8080", "authorization": f"Bearer {TOKEN}"}
    with TestClient(app(session, guard), base_url="http://127.0.0.1:8080") as made:
        made.headers.update(headers)
        yield made


@pytest.fixture
def open_studio(tmp_path):
    """Start a studio on a file, as a command; return its address."""
    program, started = Path(sys.executable).with_name("dpress"), []

    def opened(source):
        command = [program, "studio", source, "--folder", tmp_path / "work", "--json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return json.loads(started[-1].stdout.readline())["page"]

    yield opened
    for process in started:
        process.terminate()
        process.stdout.close()
        assert process.wait() == 0
