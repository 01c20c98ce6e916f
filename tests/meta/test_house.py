"""The house keeps its own rules: size, docstrings, imports, tests that assert, nothing of a workplace."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpress

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "dpress"
LONGEST = 400
WORKPLACE = re.compile(
    r"(?<![\w.])/(?:work|root|home|opt|Users|tmp)/\w|pypi\.org|pythonhosted|/simple/|artifactory|index-url|localhost:\d",
    re.IGNORECASE,
)
IMAGE = ("/op" + "t/", "/tm" + "p/")
API = [
    "ROW", "ZCDP", "ApproxDP", "BudgetExceeded", "Claim", "DataCheck", "Design", "Ledger", "NotSupported", "Plan",
    "PureDP", "Relation", "Release", "ReportRejected", "Result", "SchemaMismatch", "Series", "Session", "Spec", "Unit",
    "__version__", "attach", "check", "device", "estimate", "evaluate", "intake", "load_design", "load_release",
    "load_series", "load_spec", "perturb", "plan", "plan_for_error", "publish", "publish_period", "report",
    "save_design",
    "send_reports", "sql", "strategy",
]  # fmt: skip


def own_files() -> list[Path]:
    """Return every file of the project, also those not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def public_definitions(
    tree: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """Yield the public functions and classes, and the public methods of classes; nothing inside functions."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                yield node.name, node
            for part in node.body:
                if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and not part.name.startswith("_"):
                    yield f"{node.name}.{part.name}", part


def bare(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of arguments without annotation, and "return" where that is missing."""
    signature = function.args
    arguments = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs, signature.vararg, signature.kwarg]
    names = [one.arg for one in arguments if one and one.annotation is None and one.arg not in ("self", "cls")]
    return names + (["return"] if function.returns is None else [])


def asserts(test: ast.AST, checkers: set[str]) -> bool:
    """Say whether a test asserts, expects an exception or a warning, or calls a function that asserts."""
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rsplit(".", 1)[-1]
            if name in checkers or name in ("raises", "warns", "fail") or name.startswith(("assert_", "check_")):
                return True
    return False


def silent_tests(tree: ast.Module) -> list[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    helpers = {one.name for one in functions if not one.name.startswith("test") and asserts(one, set())}
    return [one.name for one in functions if one.name.startswith("test_") and not asserts(one, helpers)]


def loaded_after(statement: str) -> set[str]:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")[-2].split())


def test_nothing_of_a_workplace_is_in_the_project() -> None:
    found = []
    for path in set(own_files()) - {Path(__file__)}:  # the words themselves stand here
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        of_image = path.parent.name == "docker"  # its own paths, inside the image that it describes
        traces = [match[0] for match in WORKPLACE.finditer(text) if not (of_image and match[0].startswith(IMAGE))]
        found += [f"{path.relative_to(ROOT)}: {trace}" for trace in traces]
    assert found == []


@pytest.mark.parametrize(
    "text", ["see /wo" + "rk/shared", "--in" + "dex-url x", "https://py" + "pi.org", "/ro" + "ot/x"]
)
def test_a_trace_of_a_workplace_would_be_found(text: str) -> None:
    assert WORKPLACE.search(text)


def test_constraints_are_plain_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {re.split(r"[\[<>=~!; ]", one)[0].lower() for one in wanted} - {"dpress"}
    pinned = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert names - pinned == set()


def test_no_file_is_too_long() -> None:
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for path in own_files()
        if path.suffix in (".py", ".md", ".toml", ".ts")
    }
    assert {str(path): length for path, length in lengths.items() if length > LONGEST} == {}


def test_every_module_and_public_definition_has_a_docstring() -> None:
    missing = []
    for path, tree in trees(SOURCE):
        named = [("module", tree), *public_definitions(tree)]
        missing += [f"{path.name}: {name}" for name, node in named if not ast.get_docstring(node)]
    assert missing == []


def test_every_public_function_is_annotated() -> None:
    missing = []
    for path, tree in trees(SOURCE):
        for name, node in public_definitions(tree):
            if not isinstance(node, ast.ClassDef):
                missing += [f"{path.name}: {name}({what})" for what in bare(node)]
    assert missing == []


def test_every_single_letter_is_in_the_notation() -> None:
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    known = {one.strip() for cell in re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE) for one in cell.split(",")}
    used = set()
    for path, tree in trees(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                used.add((node.id, path.name))
            if isinstance(node, ast.arg):
                used.add((node.arg, path.name))
    assert len(known) > 20
    assert sorted((name, place) for name, place in used if len(name) == 1 and name not in known | {"_"}) == []


def test_only_our_own_generator_draws() -> None:
    found = []
    for path, tree in trees(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random"):
                found.append(f"{path.name}:{node.lineno}")
            if isinstance(node, ast.Import):
                found += [f"{path.name}: {one.name}" for one in node.names if one.name in ("random", "numpy.random")]
            if isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random"):
                found.append(f"{path.name}: {node.module}")
    assert found == []


def test_every_test_asserts() -> None:
    silent = {str(path.relative_to(ROOT)): silent_tests(tree) for path, tree in trees(ROOT / "tests")}
    assert {path: names for path, names in silent.items() if names} == {}


def test_a_silent_test_would_be_found() -> None:
    tree = ast.parse("def test_quiet():\n    len('')\ndef test_loud():\n    assert True\n")
    assert silent_tests(tree) == ["test_quiet"]


def test_the_public_names_are_these() -> None:
    assert dpress.__all__ == API
    assert all(getattr(dpress, name) is not None for name in API)
    with pytest.raises(AttributeError, match="no attribute"):
        _ = dpress.nothing  # type: ignore[attr-defined]


def test_the_layers_name_exactly_the_packages() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = [part.strip() for layer in contract[0]["layers"] for part in layer.split("|")]
    required = {part for part in layers if not part.startswith("(")}
    optional = {part.strip("()") for part in layers if part.startswith("(")}
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert required <= found - {"__init__"} <= required | optional


def test_the_contributors_map_names_every_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = [path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()]
    assert [name for name in packages if f"| `{name}` |" not in text] == []


def test_the_import_loads_no_numerical_library() -> None:
    assert {"numpy", "pyarrow", "duckdb", "scipy"} & loaded_after("import dpress") == set()


def test_help_loads_no_numerical_library() -> None:
    statement = (
        "from dpress.cli.main import cli\nassert cli.main(['--help'], standalone_mode=False) == 0\n"
        "assert cli.main(['--version'], standalone_mode=False) == 0"
    )
    assert {"numpy", "pyarrow", "duckdb", "scipy", "rich"} & loaded_after(statement) == set()
