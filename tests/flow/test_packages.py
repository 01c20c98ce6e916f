"""The wheel and the source distribution are built, and either, installed, is the whole of dpress."""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
OURS = "import dpress, sys; assert dpress.__file__.startswith(sys.prefix), dpress.__file__"
pytestmark = [pytest.mark.slow, pytest.mark.long]


def environment(folder):
    """Make an environment, to which the pip of the tests installs, and return its folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin"


def installed(programs, *packages):
    """Install packages into an environment."""
    ran(sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet", *packages)


def ran(*command, cwd=None):
    """Run a program to whom nobody says where else dpress is, and return what it printed."""
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=around)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the source distribution, as the tools that pyproject.toml names build them."""
    folder = tmp_path_factory.mktemp("built")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    programs = environment(folder / "tools")
    installed(programs, *needed)
    ran(programs / "python", "-m", "hatchling", "build", "-d", folder / "dist", cwd=ROOT)
    wheel, sdist = sorted((folder / "dist").iterdir(), key=lambda one: one.suffix, reverse=True)
    return {"wheel": wheel, "sdist": sdist}


@pytest.mark.parametrize("form", ["wheel", "sdist"])
def test_what_is_installed_publishes_and_reports(built, form, tmp_path):
    """What dpress requires is lent by the environment of the tests; dpress itself is the one that was installed."""
    programs = environment(tmp_path / "venv")
    installed(programs, "--no-deps", built[form])
    inside = ran(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(inside) / "lent.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    ran(programs / "python", "-c", OURS, cwd=tmp_path)
    assert json.loads(ran(programs / "dpress", "list", "--json", cwd=tmp_path))
    ran(programs / "dpress", "demo", "--out", tmp_path / "demo", cwd=tmp_path)
    assert (tmp_path / "demo").is_dir()


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built):
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/dpress"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    with ZipFile(built["wheel"]) as wheel:
        inside = [name for name in wheel.namelist() if ".dist-info/" not in name]
    assert sorted(inside) == sorted(name.removeprefix("src/") for name in listed.stdout.split())
