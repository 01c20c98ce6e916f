"""The client's sources: a file for every type of column and every oracle, found by the build, and no circle."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from tests.client.devices import ROOT, program

CLIENT = ROOT / "clients/js"
SOURCES = CLIENT / "src"
FOLDERS = {"attributes": "KINDS", "oracles": "METHODS"}
MADE = "rooms.ts"
IMPORTED = re.compile(r'(?:\bfrom|^import) "(\.[^"]+)\.js"', re.MULTILINE)


def rooms(folder: str) -> list[Path]:
    """Return the files of a folder that offer what the build finds."""
    files = [path for path in sorted((SOURCES / folder).glob("*.ts")) if path.name != MADE]
    return [path for path in files if f"export const {FOLDERS[folder]}" in path.read_text(encoding="utf-8")]


def texts() -> dict[Path, str]:
    """Return the text of every source; of those that the build makes, what they will import."""
    sources = {path: path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.ts") if path.name != MADE}
    made = {folder: [f'from "./{path.stem}.js"\n' for path in rooms(folder)] for folder in FOLDERS}
    return sources | {SOURCES / folder / MADE: "".join(imports) for folder, imports in made.items()}


def circle(sources: Mapping[Path, str]) -> list[Path]:
    """Return sources each of which imports the next one, the last one the first; types count."""
    imports = {
        path: {(path.parent / f"{name}.ts").resolve() for name in IMPORTED.findall(text)}
        for path, text in sources.items()
    }
    assert {target for targets in imports.values() for target in targets} <= set(sources)
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [Path(path) for path in error.args[1]]
    return []


def test_no_source_imports_itself_by_way_of_others() -> None:
    assert circle(texts()) == []


@pytest.mark.parametrize(
    "planted", ['import { KINDS } from "./attributes/rooms.js";', 'import type {\n  Coins,\n} from "./oracles/krr.js";']
)
def test_a_circle_would_be_found(planted: str) -> None:
    sources = texts()
    sources[SOURCES / "fields.ts"] += planted
    assert SOURCES / "fields.ts" in circle(sources)


def test_the_files_of_types_of_columns_are_named_as_the_rooms() -> None:
    names = [path.stem for path in rooms("attributes")]
    assert names
    assert [name for name in names if not (ROOT / "src/dpress/attributes" / name / "attribute.py").is_file()] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_new_is_a_file_of_its_own(folder: str, tmp_path: Path) -> None:
    shutil.copytree(SOURCES, tmp_path / "src", ignore=shutil.ignore_patterns(MADE))
    shutil.copy(CLIENT / "rooms.mjs", tmp_path)
    (tmp_path / "src" / folder / "parity.ts").write_text(f"export const {FOLDERS[folder]} = {{}};", encoding="utf-8")
    subprocess.run([program("node"), "rooms.mjs"], cwd=tmp_path, check=True)
    made = (tmp_path / "src" / folder / MADE).read_text(encoding="utf-8")
    assert re.findall(r"\.\.\.(\w+)", made) == sorted([path.stem for path in rooms(folder)] + ["parity"])
