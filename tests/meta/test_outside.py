"""Methods and kinds of other packages: named, they serve as ours do; broken, they stop nothing but themselves.

The package is that of CONTRIBUTING.md, put beside the programs as an installer would, by a `.dist-info` on their path.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ("toy_bits", "toy_protocol", "toy_wavelet")
SPEC = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 15]
[privacy]
model = "{model}"
epsilon = 2.0
[release]
kind = "{kind}"
method = "{method}"
{more}
"""
ROWS = "age\n" + "3\n" * 300 + "9\n" * 200

Run = Callable[..., subprocess.CompletedProcess[str]]


def block(starts: str) -> str:
    """Return the block of CONTRIBUTING.md that starts so."""
    blocks = re.findall(r"```\w+\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    (text,) = [text for text in blocks if text.startswith(starts)]
    return str(text)


def declare(folder: Path, package: str, methods: dict[str, str], kinds: dict[str, str]) -> None:
    """Write what an installer writes of a package's entry points."""
    info = folder / f"{package}_dp-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}-dp\nVersion: 1.0\n")
    lines = ["[dpress.methods]", *(f"{name} = {module}" for name, module in methods.items())]
    lines += ["[dpress.kinds]", *(f"{name} = {module}" for name, module in kinds.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "ages.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Return what runs the command, or statements, in a folder beside which packages lie."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        program = ["-c", arguments[0]] if arguments[0].startswith("import") else ["-m", "dpress", *arguments]
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, *program],
            cwd=folder / "here",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture
def acme(folder: Path) -> Path:
    """The package of CONTRIBUTING.md."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(["sh", "-ec", block("DPRESS=")], cwd=folder, check=True, env={**os.environ, "PATH": path})
    (folder / "acme/toy_protocol.py").write_text(block('"""`toy_protocol`'), encoding="utf-8")
    points = tomllib.loads(block("[project]"))["project"]["entry-points"]
    assert tuple(sorted(points["dpress.methods"])) == PACKAGE
    declare(folder, "acme", points["dpress.methods"], points["dpress.kinds"])
    return folder / "acme"


def write(folder: Path, kind: str, method: str, model: str = "central", more: str = "") -> None:
    (folder / "here" / "spec.toml").write_text(SPEC.format(kind=kind, method=method, model=model, more=more))


def listed(run: Run, *first: str) -> dict[str, dict[str, object]]:
    return {row["method"]: row for row in json.loads(run(*first, "list", "--json").stdout)}


@pytest.mark.slow
def test_a_strategy_of_a_package_is_listed_planned_published_audited_and_read(
    folder: Path, acme: Path, run: Run
) -> None:
    del acme
    rows = listed(run)
    assert [name for name, row in rows.items() if row["origin"]] == list(PACKAGE)
    assert rows["toy_wavelet"]["origin"] == "acme"
    assert (rows["toy_wavelet"]["auto"], rows["privelet"]["auto"]) == (False, True)
    assert rows["toy_wavelet"]["proven"] == rows["privelet"]["proven"]
    assert "origin" in run("list").stdout.splitlines()[0]
    write(folder, "ranges", "toy_wavelet")
    assert json.loads(run("plan", "spec.toml", "--json").stdout)["chosen"] == "toy_wavelet"
    run("plan", "spec.toml", "--out", "design.json")
    assert '"acme:toy_wavelet"' in (folder / "here/design.json").read_text()
    run("publish", "design.json", "--data", "ages.csv", "--out", "release")
    assert "total" in run("query", "release", "total").stdout
    assert "kept exactly" in run("audit", "toy_wavelet").stdout


@pytest.mark.slow
@pytest.mark.parametrize("method", ["toy_bits", "toy_protocol"])
def test_an_oracle_and_a_protocol_of_a_package_are_collected(folder: Path, acme: Path, run: Run, method: str) -> None:
    del acme
    write(folder, "histogram", method, "local")
    run("plan", "spec.toml", "--out", "design.json")
    run("perturb", "design.json", "--data", "ages.csv", "--out", "reports.parquet")
    run("estimate", "design.json", "--reports", "reports.parquet", "--out", "release")
    assert "age = 3" in run("query", "release", "age = 3").stdout
    assert "kept exactly" in run("audit", method).stdout


@pytest.mark.slow
@pytest.mark.parametrize("method", ["level_tree", "ahead"])
def test_an_oracle_of_a_package_serves_the_nodes_of_trees(folder: Path, acme: Path, run: Run, method: str) -> None:
    del acme
    write(folder, "ranges", method, "local", '[release.parameters]\noracle = "toy_bits"')
    run("plan", "spec.toml", "--out", "design.json")
    assert '"acme:toy_bits"' in (folder / "here/design.json").read_text()
    run("perturb", "design.json", "--data", "ages.csv", "--out", "reports.parquet")


@pytest.mark.slow
def test_a_kind_of_a_package_is_planned_published_queried_evaluated_and_shown(
    folder: Path, acme: Path, run: Run
) -> None:
    pytest.importorskip("altair")
    write(folder, "pile", "auto")
    run("plan", "spec.toml", "--out", "design.json")
    assert '"acme:toy_counts"' in (folder / "here/design.json").read_text()
    assert "500" in run("check", "spec.toml", "--data", "ages.csv").stdout
    run("publish", "design.json", "--data", "ages.csv", "--out", "release")
    assert "age = 3" in run("query", "release", "age = 3").stdout
    run("evaluate", "release", "--data", "ages.csv")
    run("report", "release", "--out", "page.html")
    assert "pile" in (folder / "here/page.html").read_text()
    (acme.parent / "acme_dp-1.0.dist-info/entry_points.txt").unlink()
    refused = run("query", "release", "age = 3", code=1).stderr
    assert "there is no kind of release 'toy_counts' of the package 'acme' here; install it" in refused
    assert "got 'pile'" in run("plan", "spec.toml", code=1).stderr


@pytest.mark.slow
def test_a_design_of_a_method_that_is_not_there_is_refused_by_name_and_package(
    folder: Path, acme: Path, run: Run
) -> None:
    write(folder, "ranges", "toy_wavelet")
    run("plan", "spec.toml", "--out", "design.json")
    run("publish", "design.json", "--data", "ages.csv", "--out", "published")
    (acme.parent / "acme_dp-1.0.dist-info/entry_points.txt").unlink()
    declare(folder, "other", {"toy_wavelet": "other.toy_wavelet"}, {})  # of the same name, and not that one
    (folder / "acme").rename(folder / "other")
    for command in (
        ["publish", "design.json", "--data", "ages.csv", "--out", "release"],
        ["query", "published", "total"],
    ):
        refused = run(*command, code=1).stderr
        assert "there is no method 'toy_wavelet' of the package 'acme' here; install it" in refused
        assert len(refused.splitlines()) == 1
    assert not (folder / "here/release").exists()


CHOSEN = """import json, sys
from pathlib import Path
import dpress
from dpress import catalog
from dpress.core.methods import outside
from dpress.mechanisms import linear, oracle, spatial
for package in (linear, oracle, spatial):
    folder = Path(sys.argv[1], package.__name__.rpartition(".")[2])
    if sys.argv[2] == "outside":
        outside.add(folder)
    if sys.argv[2] == "ours":
        package.__path__.append(str(folder))
place = {"name": "p", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 1], [0, 1]]}
age = {"name": "age", "kind": "integer", "bounds": [0, 15]}
chosen = {}
for model in ("central", "local"):
    for kind, column in (("histogram", age), ("ranges", age), ("spatial", place)):
        privacy, release = {"model": model, "epsilon": 2.0}, {"kind": kind}
        plan = dpress.plan({"attribute": [column], "privacy": privacy, "release": release})
        chosen[f"{model} {kind}"] = [plan.chosen.method, *sorted(one.method for one in plan.candidates)]
listed = [name for name in catalog.entries() if name.startswith("aaa_")]
print(json.dumps([chosen, listed, catalog.faults()]))
"""
COPIES = {
    "oracle/subset_selection": "aaa_subset",
    "linear/privelet": "aaa_wavelet",
    "spatial/uniform_grid": "aaa_grid",
}


@pytest.mark.slow
def test_auto_never_takes_a_copy_from_outside_though_it_would_take_one_of_ours(folder: Path) -> None:
    for file, name in COPIES.items():
        text = (ROOT / f"src/dpress/mechanisms/{file}.py").read_text(encoding="utf-8")
        family, _, was = file.partition("/")
        (folder / "own" / family).mkdir(parents=True)
        text = text.replace(f'name="{was}"', f'name="{name}"').replace(camel(was), camel(name))
        (folder / "own" / family / f"{name}.py").write_text(text, encoding="utf-8")

    def chosen(where: str) -> list[object]:
        command = [sys.executable, "-c", CHOSEN, str(folder / "own"), where]
        printed: list[object] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        return printed

    without, among_ours = chosen("nowhere"), chosen("ours")
    assert chosen("outside") == [without[0], sorted(COPIES.values()), []]
    assert among_ours[1:] == [sorted(COPIES.values()), []]
    assert [name in json.dumps(among_ours[0]) for name in COPIES.values()] == [True] * 3
    assert json.loads(json.dumps(among_ours[0]))["local histogram"][0] == "aaa_subset"


def camel(name: str) -> str:
    """Return the class of a file."""
    return "".join(part.capitalize() for part in name.split("_"))


EXAMPLE = """
from dataclasses import replace
from dpress.mechanisms.oracle.krr import CARD as KRR
CARD = replace(KRR, name="no_example", example=lambda loss, unit: 1 / 0)
"""
BROKEN = {
    "no_import": ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    "no_syntax": ("def (:\n", "SyntaxError: "),
    "no_card": ("CARD = 'card'\n", "has no CARD"),
    "no_end": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "other_name": ("from dpress.mechanisms.oracle.krr import CARD\n", "CARD of 'krr'"),
    "krr": ("from dpress.mechanisms.oracle.krr import CARD\n", "there is a method of this name in dpress"),
    "no_example": (EXAMPLE, "its example: ZeroDivisionError"),
}


@pytest.fixture
def broken(folder: Path) -> Path:
    """A folder of one good method, and of every fault."""
    own = folder / "own"
    own.mkdir()
    text = (ROOT / "src/dpress/mechanisms/oracle/oue.py").read_text()
    (own / "toy_bits.py").write_text(text.replace("oue", "toy_bits").replace("Oue", "ToyBits"))
    (own / "_beside.py").write_text("1 / 0\n")
    for name, (content, _) in BROKEN.items():
        (own / f"{name}.py").write_text(content)
    (own / "toy_kind").mkdir()
    (own / "toy_kind/kind.py").write_text("from dpress.kinds.tables.kind import KIND\n")
    return own


def test_a_broken_method_stops_nothing_but_itself_and_says_why(folder: Path, broken: Path, run: Run) -> None:
    done = run("--methods", str(broken), "list", "--json")
    names = [row["method"] for row in json.loads(done.stdout)]
    assert "toy_bits" in names
    assert not set(BROKEN) - {"krr"} & set(names)
    lines = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert len(lines) == len(BROKEN) + 1 == len(done.stderr.splitlines())
    for name, (_, why) in BROKEN.items():
        (line,) = [line for line in lines if line.startswith(f"note: {name} of {broken}: ")]
        assert why in line
    assert any("toy_kind" in line and "KIND of 'tables'" in line for line in lines)
    write(folder, "histogram", "krr", "local")
    assert json.loads(run("--methods", str(broken), "plan", "spec.toml", "--json").stdout)["chosen"] == "krr"


@pytest.mark.parametrize("name", ["no_import", "no_card", "other_name", "no_end"])
def test_a_broken_method_says_why_when_it_is_named(folder: Path, broken: Path, run: Run, name: str) -> None:
    write(folder, "histogram", name, "local")
    refused = run("--methods", str(broken), "plan", "spec.toml", code=1).stderr
    assert BROKEN[name][1] in refused
    assert len(refused.splitlines()) == 1


def test_a_method_of_a_folder_is_there_only_where_the_folder_is_named(broken: Path, run: Run) -> None:
    assert listed(run, "--methods", str(broken))["toy_bits"]["origin"] == str(broken)
    assert "toy_bits" not in listed(run)
    assert "origin" not in run("list").stdout
    run("--methods", "nowhere", "list", code=2)


def test_without_entry_points_no_metadata_is_read(run: Run) -> None:
    script = "import sys\nfrom dpress import catalog\ncatalog.entries(), catalog.kinds()\n"
    assert run(script + "print('importlib.metadata' in sys.modules)").stdout == "False\n"


def test_methods_of_a_package_are_not_imported_twice(acme: Path, run: Run) -> None:
    script = "import sys\nfrom dpress import catalog\ncatalog.entries()\nprint('acme.toy_bits' in sys.modules)"
    assert run(script).stdout == "True\n"
    assert run(script).stdout == "False\n"
    with (acme / "toy_bits.py").open("a") as file:
        file.write("# changed\n")
    assert run(script).stdout == "True\n"


SECRET = "3 of ward 7"
FAILING = f"""import sys
from unittest import mock
from dpress.cli.main import main
with mock.patch("dpress.catalog.entries", side_effect=KeyError({SECRET!r})):
    main([*sys.argv[1:], *ARGUMENTS, "list"])
"""


def test_debug_shows_the_traceback_of_an_internal_error_and_says_that_it_may_quote_rows(run: Run) -> None:
    plain = run(FAILING.replace("ARGUMENTS", "()"), code=1).stderr
    assert len(plain.splitlines()) == 1
    assert SECRET not in plain
    shown = run(FAILING.replace("ARGUMENTS", "('--debug',)"), code=1).stderr
    assert shown.startswith("traceback, which may quote rows:\nTraceback")
    assert SECRET in shown
    assert plain in shown
    assert "may quote rows" in " ".join(run("--help").stdout.split())
