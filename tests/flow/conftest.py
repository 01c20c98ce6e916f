import contextlib
import itertools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.seeded.seeded_stream import SEED

from dpress.cli.main import main

SEEDED = Path(__file__).parents[1] / "seeded"
HANGS = 3600  # seconds after which a program is taken to hang, on a machine however loaded
ROWS = "age,sex,size\n" + "".join(f"{i * i % 10},{'FM'[i % 3 == 0]},{i % 80 / 10}\n" for i in range(500))
ATTRIBUTES = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def dpress(tmp_path, request):
    """Run the real program in an empty folder; its noise is named after the test, and the same every day."""
    runs = itertools.count()

    def run(*arguments, **environment):
        program = Path(sys.executable).with_name("dpress")
        path = os.pathsep.join([str(SEEDED), *filter(None, [os.environ.get("PYTHONPATH")])])
        seeded = {"PYTHONPATH": path, SEED: f"{request.node.nodeid} {next(runs)}"}
        done = subprocess.run(
            [program, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **seeded, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def serving(tmp_path):
    """What starts the service in the same folder, on a free port, and returns the process; it ends with the test."""
    with contextlib.ExitStack() as stack:

        def start(*arguments):
            command = [sys.executable, "-m", "dpress", "serve", *arguments, "--port", "0"]
            process = stack.enter_context(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            return process

        yield start


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """Run the program in this process, in the same folder: for what needs no process of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = 0
        try:
            main([str(one) for one in arguments])
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def folder(tmp_path):
    """A folder with rows.csv and ages.toml, and a writer for other specs."""
    (tmp_path / "rows.csv").write_text(ROWS)
    write_spec(tmp_path / "ages.toml", release='kind = "ranges"\nattributes = ["age"]')
    return tmp_path


def write_spec(path, *, attributes=ATTRIBUTES, privacy="epsilon = 1.0", release='kind = "marginals"', extra=""):
    path.write_text(f'[data]\nsource = "rows.csv"\n{attributes}\n[privacy]\n{privacy}\n[release]\n{release}\n{extra}\n')
    return path


@pytest.fixture
def spec(folder):
    return lambda **parts: write_spec(folder / "spec.toml", **parts)


@pytest.fixture(scope="session")
def reference_data():
    """The folder of the reference data, or a skip that says what is missing."""
    place = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (place / "adult" / "adult.parquet").exists():
        pytest.skip(f"no reference data in {place}; set DPRESS_DATA to run this test")
    return place
