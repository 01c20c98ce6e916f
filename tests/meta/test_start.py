"""What a start loads: every command and import takes the large libraries only where it needs them."""

import subprocess
import sys

import pytest

HEAVY = {
    *("duckdb", "scipy", "pandas", "polars", "altair", "numba", "sklearn", "narwhals", "matplotlib", "pyspark"),
    "prompt_toolkit",
}
DEVICE = """
import dpress.core.basics.rng, dpress.mechanisms.protocol.collection, dpress.mechanisms.protocol.report_type
from dpress.mechanisms.oracle import hadamard, krr, olh, oue, pcep, rappor, subset_selection, sue
from dpress.noise import (
    bernoulli, bit_coins, choose, expansion, gaussian, laplace, permanent, response, subset, uniform
)
"""
MAIN = "from dpress.cli.main import cli\ncli.main({!r}, standalone_mode=False)"
STARTS = {
    "import dpress": "import dpress",
    "help": MAIN.format(["--help"]),
    "list": MAIN.format(["list"]),
    "list as JSON": MAIN.format(["list", "--json"]),
    "device": DEVICE,
    "catalogue": "from dpress import catalog\nassert len(catalog.cards()) > 30",
}
MORE = {
    "import dpress": {"numpy", "pyarrow", "click", "rich"},
    "help": {"numpy", "pyarrow", "rich", "msgspec", "traceback"},
    "list": {"pyarrow", "rich", "cryptography", "concurrent.futures"},
    "list as JSON": {"pyarrow", "rich", "cryptography"},
    "device": {"pyarrow", "click", "rich", "concurrent.futures", "dpress.catalog", "dpress.data", "dpress.release"},
    "catalogue": {"pyarrow", "click"},
}
PLANNERS = ("dpress.mechanisms.linear", "dpress.mechanisms.spatial", "dpress.mechanisms.joint", "dpress.inference.maps")


def loaded_by(statements: str, typed: str = "") -> set[str]:
    """Return the modules that a fresh process holds after these statements, with a text on its standard input."""
    script = f"{statements}\nimport sys\nprint()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], input=typed, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_nothing_large_that_it_does_not_need(start: str) -> None:
    assert (HEAVY | MORE[start]) & loaded_by(STARTS[start]) == set()


def test_a_device_needs_no_planner_and_no_estimator_of_maps_or_joints() -> None:
    loaded = loaded_by(DEVICE)
    assert {name for name in loaded if name.startswith(PLANNERS)} == set()
    assert {"dpress.inference.joint.factors", "dpress.inference.joint.contrast"} & loaded == set()


def test_a_method_that_is_named_is_loaded_alone() -> None:
    loaded = loaded_by("from dpress import catalog\nassert catalog.card('privelet').name == 'privelet'")
    families = {
        name.split(".")[2]
        for name in loaded
        if name.startswith("dpress.mechanisms.") and name.count(".") > 2 and not name.endswith(".documents")
    }
    assert families == {"linear"}


def test_a_session_that_is_piped_loads_no_prompt(tmp_path) -> None:
    (tmp_path / "people.toml").write_text(
        '[[attribute]]\nname = "ward"\nkind = "categorical"\nvalues = ["a", "b"]\n[privacy]\nepsilon = 1\n'
    )
    files = (f"{tmp_path}/people.toml", "--ledger", f"{tmp_path}/l.db", "--out", f"{tmp_path}/session")
    start = MAIN.format(["session", *files])
    asked = "select count(*) from v where ward = 'a'\n"
    assert {"prompt_toolkit", "dpress.cli.session_prompt", "dpress.cli.completion"} & loaded_by(start, asked) == set()


@pytest.mark.parametrize("library", ["scipy.special", "pyarrow", "concurrent.futures"])
def test_a_library_that_a_start_loads_would_be_found(library: str) -> None:
    assert library in loaded_by(f"import {library}\n{STARTS['help']}")


PUBLISH = "from dpress.cli.main import main\nimport sys\nsys.argv[1:] = {!r}\nmain({})"


def test_a_program_that_publishes_loads_no_pandas_and_who_calls_it_from_python_keeps_theirs(tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("age\n" + "31\n" * 90)
    (tmp_path / "ages.toml").write_text(
        f"[data]\nsource = {str(tmp_path / 'rows.csv')!r}\n"
        "[[attribute]]\nname = 'age'\nkind = 'integer'\nbounds = [0, 99]\n"
        "[privacy]\nepsilon = 1\n[release]\nkind = 'histogram'\npostprocess = []\n"
    )
    arguments = ["publish", f"{tmp_path}/ages.toml", "--out", f"{tmp_path}/first", "--quiet"]
    assert "pandas" not in loaded_by(PUBLISH.format(arguments, ""))
    arguments[3] = f"{tmp_path}/second"
    assert "pandas" in loaded_by(PUBLISH.format(arguments, "sys.argv[1:]"))  # what the program does without
    theirs = "\nimport pyarrow as pa\nassert len(pa.table({'a': [1, 2]}).to_pandas()) == 2"
    arguments[3] = f"{tmp_path}/third"
    assert "pandas" in loaded_by(PUBLISH.format(arguments, "sys.argv[1:]") + theirs)
