"""The image of the service: its build file is sound, and its steps give a service that runs."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
QUICK = {"PIP_NO_COMPILE": "1"}  # what is imported is compiled then
SPEC = """
[[attribute]]
name = "answer"
kind = "categorical"
values = ["yes", "no"]
[privacy]
model = "local"
epsilon = 1.0
[release]
kind = "histogram"
"""


def linted(path: Path) -> list[str]:
    command = [Path(sys.executable).with_name("hadolint"), "--no-color", "--format", "json", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [one["code"] for one in json.loads(done.stdout)]


def instructions() -> list[tuple[str, str]]:
    """Return the build file's instructions, their lines joined, its comments left out."""
    text = re.sub(r"^#.*\n", "", (DOCKER / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines if line.strip()]


def test_the_build_file_has_no_remark_of_the_linter() -> None:
    assert linted(DOCKER / "Dockerfile") == []


def test_the_linter_finds_a_fault(tmp_path: Path) -> None:
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    (tmp_path / "Dockerfile").write_text(text.replace("USER 10001\n", "USER root\n"), encoding="utf-8")
    assert "DL3002" in linted(tmp_path / "Dockerfile")


def test_only_what_is_installed_gets_into_the_image() -> None:
    copied = {
        one for kind, rest in instructions() if kind == "COPY" and "--from" not in rest for one in rest.split()[:-1]
    }
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == allowed
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_compose_file_names_the_files_that_the_page_makes() -> None:
    page = (ROOT / "docs" / "reference" / "service.md").read_text(encoding="utf-8")
    named = set(re.findall(r"file: \./(\S+)}", (DOCKER / "compose.yaml").read_text(encoding="utf-8")))
    assert named
    assert [name for name in named if f"docker/{name}" not in page and f"{name} docker/" not in page] == []


@pytest.mark.long
def test_the_steps_of_the_image_give_a_service_that_runs(tmp_path: Path) -> None:
    """Every step but making the user, in other folders; then the image's command, as whoever runs the tests."""
    build, installed, data = tmp_path / "build", tmp_path / "installed", tmp_path / "data"
    build.mkdir()
    data.mkdir()
    for kind, rest in instructions():
        words = rest.split()
        if kind == "COPY" and not words[0].startswith("--from"):
            for name in words[:-1]:
                source, target = ROOT / name, build / words[-1] / Path(name).name
                if source.is_dir():
                    shutil.copytree(source, build / words[-1], dirs_exist_ok=True)
                else:
                    shutil.copy(source, target)
        if kind == "RUN" and "useradd" not in rest:
            step = rest.replace("/op" + "t/dpress", str(installed)).replace(
                "python -m venv", f"{sys.executable} -m venv"
            )
            subprocess.run(["bash", "-euc", step], cwd=build, check=True, capture_output=True, env=os.environ | QUICK)
    (data / "design.toml").write_text(SPEC, encoding="utf-8")
    command = json.loads(next(rest for kind, rest in instructions() if kind == "CMD"))
    here = {"/data/design.json": f"{data}/design.toml", "sqlite:////data/reports.db": f"sqlite:///{data}/reports.db"}
    own = [here.get(one, one) for one in command]
    own[own.index("0.0.0.0")] = "127.0.0.1"  # noqa: S104  # what the image listens on; here only this machine
    environment = {"PATH": os.environ["PATH"], "NUMBA_CACHE_DIR": str(tmp_path / "numba"), "HOME": str(data)}
    arguments = [str(installed / "bin" / "dpress"), *own, "--port", "0", "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment, cwd=data) as process:
        assert process.stdout is not None
        try:
            (served,) = json.loads(process.stdout.readline())["collections"]
            with urlopen(served["url"]) as answer:  # noqa: S310  # http
                assert json.load(answer)["open"]
        finally:
            process.send_signal(signal.SIGTERM)
    assert (data / "reports.db").exists()
