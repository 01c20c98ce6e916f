"""The version and the command, by every way to either."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import dpress
from dpress.cli.main import COMMANDS

VERSION = importlib.metadata.version("dpress")
WAYS = {"command": [str(Path(sys.executable).parent / "dpress")], "module": [sys.executable, "-m", "dpress"]}


def run(way: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WAYS[way], *arguments], capture_output=True, text=True, check=False)


def test_the_package_knows_its_version() -> None:
    assert dpress.__version__ == VERSION != ""


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_the_command_prints_the_version(way: str) -> None:
    done = run(way, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"dpress, version {VERSION}\n", "")


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_the_command_ends_alike(way: str) -> None:
    usage, refused, helped = run(way, "--no-such-option"), run(way, "plan", "no-such-file.toml"), run(way, "--help")
    assert (usage.returncode, refused.returncode, helped.returncode) == (2, 1, 0)
    assert refused.stderr.startswith("dpress: no-such-file.toml")
    assert helped.stdout.startswith("Usage: dpress [OPTIONS] COMMAND")
    assert [name for name in COMMANDS if f"  {name} " not in helped.stdout] == []
