import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpress.cli.main import main

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
def dpress(tmp_path):
    """Run the real program in an empty folder."""

    def run(*arguments, **environment):
        program = Path(sys.executable).with_name("dpress")
        done = subprocess.run(
            [program, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


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
