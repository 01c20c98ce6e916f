"""`dpress demo --collect`, as a process: something to look at, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from tests.service.pages.conftest import HANGS

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(tmp_path):
    """Start the demo in an empty folder, with one for what it keeps meanwhile."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    started = []

    def run(*options):
        arguments = [sys.executable, "-m", "dpress", "demo", "--collect", *options]
        environment = {**os.environ, "TMPDIR": str(scratch)}
        folder = tmp_path / "empty"
        folder.mkdir()
        process = subprocess.Popen(
            arguments, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    assert [*scratch.iterdir()] == []
    assert [*(tmp_path / "empty").iterdir()] == []


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def until(holds):
    for _ in range(10 * HANGS):
        if found := holds():
            return found
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def gone(child):
    """Return whether a process is no more, or waits for nothing but to be forgotten."""
    status = Path(f"/proc/{child}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def users(page):
    with urllib.request.urlopen(page.replace("/collections/", "/v1/collections/") + "/estimate") as answer:  # noqa: S310
        return json.loads(answer.read())["users"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_shows_reports_that_arrive_and_ends_when_it_is_told(demo, number):
    process = demo("--quiet")
    page = process.stdout.readline().strip()
    first = until(lambda: users(page))
    assert until(lambda: users(page) > first)
    (child,) = children(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=HANGS)
    assert (process.returncode, out, err) == (0, "", "")
    assert gone(child)


def test_devices_end_with_the_service_even_if_it_is_killed(demo, tmp_path):
    process = demo("--json")
    page = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["page"]
    assert until(lambda: users(page))
    (child,) = children(process)
    process.kill()
    process.wait()
    assert until(lambda: gone(child))
    (left,) = (tmp_path / "scratch").iterdir()  # who is killed cannot tidy up
    for one in left.iterdir():
        one.unlink()
    left.rmdir()


def test_a_signal_before_it_listens_leaves_nothing_either(demo, tmp_path):
    process = demo("--quiet")
    until(lambda: [*(tmp_path / "scratch").iterdir()] or process.poll() is not None)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=HANGS)
    assert (process.returncode, err) == (0, "")
    assert len(out.splitlines()) <= 1
