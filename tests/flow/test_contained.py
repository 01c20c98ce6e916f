"""The compose file's command as the image's user, where nothing but /tmp can be written, and with its health check.

Namespaces of the kernel stand for an engine of containers: read-only mounts, a network of its own, no rights.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from tests.flow.test_image import DOCKER, ROOT, instructions
from tests.service.served import design

from dpress.document.design import encode

SETUP = """
mount --make-rprivate /
ip link set lo up
mount -t tmpfs tmpfs "$0/run"
cp -r "$0/secrets" "$0/run/secrets"
mkdir "$0/run/python"
mount --bind "$PREFIX" "$0/run/python"
mkdir "$0/run/store"
touch "$0/run/store/$(basename "$1")"
mount --bind "$1" "$0/run/store/$(basename "$1")"
mount --rbind "$0/run" /run
mount -o remount,bind,ro /
mount -t tmpfs -o mode=1777 tmpfs /tmp
case "$PREFIX" in /tmp/*) mkdir -p "$PREFIX"; mount --bind /run/python "$PREFIX";; esac
exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set -all --inh-caps -all "${@:2}"
"""
WRITES = "import pathlib, sys\nfor place in sys.argv[1:]:\n    pathlib.Path(place, 'file').touch()"
NEEDED = ("unshare", "setpriv", "ip", "nsenter", "ss", "pgrep")
LOOKS = 600  # of a tenth of a second
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may make namespaces here"),
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="needs util-linux, iproute2 and procps"),
]


@pytest.fixture
def image():
    """The instructions of the image by their names, of which each stands once in its last part."""
    return dict(instructions())


@pytest.fixture
def contained(tmp_path, oldest_postgres, image):
    """Begin a program as a container would, and return its process; every one is stopped at the end."""
    as_user = ["setpriv", "--reuid", "10001", "--regid", "10001", "--clear-groups", sys.executable, "-c", ""]
    if subprocess.run(as_user, capture_output=True, check=False).returncode:
        pytest.skip("another user cannot run this interpreter")
    address = urlsplit(oldest_postgres)
    socket = next(path for path in place_of(address.port).glob(f".s.PGSQL.{address.port}"))
    for name in ("run", "secrets"):
        (tmp_path / name).mkdir()
    service = f"[dpress]\nhost=/run/store\nport={address.port}\nuser=postgres\ndbname=postgres\n"
    texts = {"design": encode(design()), "admin_token": "token of tests, long enough\n", "pg_service": service}
    for name, text in texts.items():
        (tmp_path / "secrets" / name).write_text(text)
    stated = dict(word.split("=", 1) for word in image["ENV"].split())
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))["services"]["collect"]
    environment = (
        stated
        | compose["environment"]
        | {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "PREFIX": sys.prefix}
    )
    started = []

    def begin(*words):
        namespaces = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child")
        command = [*namespaces, "bash", "-euc", SETUP, str(tmp_path), str(socket), *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd="/")
        started.append(process)
        return process

    yield begin, compose["command"], environment
    for process in started:
        process.kill()
        process.communicate()


def place_of(port):
    """Return the folder of a server's socket."""
    listed = subprocess.run(["ss", "-xlH"], capture_output=True, text=True, check=True).stdout
    (path,) = {word for word in listed.split() if word.endswith(f".s.PGSQL.{port}")}
    return Path(path).parent


def within(process):
    """Return the number of the program that a process has put into a container."""
    listed = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout
    (inner,) = listed.split()
    return inner


def checked(image, process, environment):
    """Run the image's health check within the container of a process, and return its code."""
    words = json.loads(image["HEALTHCHECK"].partition(" CMD ")[2])
    command = ["nsenter", "--target", within(process), "--net", sys.executable, *words[1:]]
    return subprocess.run(command, capture_output=True, check=False, env=environment).returncode


def test_it_serves_from_a_read_only_view_without_rights_and_is_healthy(contained, image):
    begin, command, environment = contained
    process = begin(sys.executable, "-m", "dpress", *command)
    codes = []
    while not codes or (codes[-1] and len(codes) < LOOKS and process.poll() is None):
        time.sleep(0.1)
        codes.append(checked(image, process, environment))
    assert codes[-1] == 0, process.communicate()
    assert codes[0] != 0  # not before it listens
    inner = within(process)
    status = dict(line.split(":\t", 1) for line in (Path("/proc") / inner / "status").read_text().splitlines())
    assert status["Uid"].split() == ["10001"] * 4
    assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")} == {0}
    os.kill(int(inner), signal.SIGTERM)
    said, faults = process.communicate()
    assert (process.returncode, faults) == (0, b""), faults
    assert b"http://0.0.0.0:8080" in said


def test_only_the_temporary_folder_can_be_written(contained):
    begin, _, _ = contained
    assert begin(sys.executable, "-c", WRITES, "/tmp").wait() == 0  # noqa: S108  # the container's own
    for place in ("/", "/run/secrets", "/var", str(ROOT)):
        process = begin(sys.executable, "-c", WRITES, place)
        assert process.wait() == 1, place
        assert process.stderr.read().splitlines()[-1].startswith((b"OSError: [Errno 30]", b"PermissionError"))
