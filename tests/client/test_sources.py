"""The client's sources: a file for every type of column, found by the build, and no circle among the imports."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.client.devices import ROOT, program

CLIENT = ROOT / "clients/js"
SOURCES = CLIENT / "src"
MADE = SOURCES / "attributes/rooms.ts"
IMPORTED = re.compile(r'(?:\bfrom|^import) "(\.[^"]+)\.js"', re.MULTILINE)
ROOM = """
import { type Kinds, single } from "../attribute.js";
export const KINDS: Kinds = { parity: { fields: "", make: () => single(2, (value) => Number(value) % 2) } };
"""


def rooms() -> list[Path]:
    return sorted(path for path in MADE.parent.glob("*.ts") if path != MADE)


def texts() -> dict[Path, str]:
    """Return the text of every source; of the one that the build makes, what it will import."""
    sources = {path: path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.ts")}
    return {**sources, MADE: "".join(f'from "./{path.stem}.js"\n' for path in rooms())}


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


def test_a_circle_would_be_found() -> None:
    for planted in ('import { KINDS } from "./attributes/text.js";', 'import type {\n  A,\n} from "./oracles/krr.js";'):
        sources = texts()
        sources[SOURCES / "fields.ts"] += planted
        assert SOURCES / "fields.ts" in circle(sources)


def test_the_files_of_types_of_columns_are_named_as_the_rooms() -> None:
    assert rooms()
    assert [
        path for path in rooms() if not (ROOT / "src/dpress/attributes" / path.stem / "attribute.py").is_file()
    ] == []


def test_a_new_type_of_column_is_a_file_of_its_own(tmp_path: Path) -> None:
    shutil.copytree(SOURCES, tmp_path / "src", ignore=shutil.ignore_patterns(MADE.name))
    shutil.copy(CLIENT / "rooms.mjs", tmp_path)
    (tmp_path / "src/attributes/parity.ts").write_text(ROOM, encoding="utf-8")
    subprocess.run([program("node"), "rooms.mjs"], cwd=tmp_path, check=True)
    made = (tmp_path / MADE.relative_to(CLIENT)).read_text(encoding="utf-8")
    assert re.findall(r"\.\.\.(\w+)", made) == sorted([path.stem for path in rooms()] + ["parity"])
