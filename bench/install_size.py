"""MiB that an installation brings: dpress and its extras with all they require, against OpenDP, as installed here.

python bench/install_size.py > install-size.json
"""

import importlib.metadata as installed
import json
import re
import tomllib
from pathlib import Path

from machine import facts

PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = {"dpress": "", "dpress[report]": "report", "dpress[service]": "service", "opendp": ""}


def requirements(name: str) -> list[str]:
    """Return what a distribution requires; dpress as pyproject.toml says, which an older installation may not know."""
    if name != "dpress":
        return installed.requires(name) or []
    extras = PROJECT["optional-dependencies"].items()
    return PROJECT["dependencies"] + [f"{line}; extra == '{extra}'" for extra, lines in extras for line in lines]


def required(name: str, extra: str, found: set[str]) -> set[str]:
    """Return the distributions that one requires, itself included, of those that are installed."""
    if name in found and not extra:
        return found
    try:
        lines = requirements(name)
    except installed.PackageNotFoundError:
        return found
    found.add(name)
    for line in lines:
        wanted, _, marker = line.partition(";")
        if "extra" in marker and f"'{extra}'" not in marker.replace('"', "'"):
            continue
        if parts := re.match(r"([\w.-]+)(?:\[([\w-]+)\])?", wanted.strip()):
            required(parts[1].lower().replace("_", "-"), parts[2] or "", found)
    return found


def mebibytes(name: str) -> float:
    """Return the size of a distribution's files, byte code left out."""
    files = [one.locate() for one in installed.files(name) or [] if one.suffix != ".pyc"]
    return sum(path.stat().st_size for path in files if path.is_file()) / 2**20


def main() -> None:
    """Print one JSON object; an editable dpress counts as nothing itself."""
    rows = []
    for asked, extra in ASKED.items():
        found = required(asked.partition("[")[0], extra, set())
        sizes = {name: mebibytes(name) for name in found}
        largest = max(sizes, key=lambda name: sizes[name])
        rows.append({"installation": asked, "packages": len(found), "MiB": sum(sizes.values()), "largest": largest})
    print(json.dumps({"machine": facts(), "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
