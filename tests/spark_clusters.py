"""A standalone cluster of this machine, a master with two workers of a core each, and a server of Spark Connect.

They are programs of their own on the loopback, with small heaps and an environment that names neither Python's path nor
this project; each ends with the session, and at the latest by itself after LONGEST seconds.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

LONGEST, PATIENCE = 600, 60  # seconds: until a program ends by itself, and for it to be there
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
SUBMIT = "org.apache.spark.deploy.SparkSubmit"
SHADOW = "raise ModuleNotFoundError(\"No module named 'dpress'\", name='dpress')\n"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def program(folder, name, *words, ready, python=sys.executable):
    """Run a class of Spark until it has logged that it is ready."""
    import pyspark

    home = Path(pyspark.__file__).parent
    plain = {"PATH": os.environ["PATH"], "HOME": str(folder), "SPARK_HOME": str(home), "PYSPARK_PYTHON": python}
    plain |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": "2.13", "SPARK_DAEMON_MEMORY": "500m"}
    command = ["timeout", "-k", "5", str(LONGEST), str(home / "bin" / "spark-class"), *words]
    log = folder / f"{name}.log"
    with log.open("w") as lines:
        process = subprocess.Popen(command, env=plain, cwd=folder, stdout=lines, stderr=lines, start_new_session=True)
    try:
        until = time.monotonic() + PATIENCE
        while ready not in log.read_text():
            if process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"{name} of Spark is not there: {log.read_text()[-800:]}")
            time.sleep(0.2)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def standalone(folder):
    """Run a master and two workers; yield the address."""
    port = free_port()
    address, place = f"spark://127.0.0.1:{port}", ["--host", "127.0.0.1", "--webui-port", "0"]
    with contextlib.ExitStack() as stack:
        master = program(folder, "master", MASTER, *place, "--port", str(port), ready="I have been elected leader")
        stack.enter_context(master)
        for number in range(2):
            own = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder / f"work{number}"), address]
            worker = program(folder, f"worker{number}", WORKER, *place, *own, ready="Successfully registered")
            stack.enter_context(worker)
        yield address


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory):
    """The address of the master."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java; .ci/run installs one")
    with standalone(tmp_path_factory.mktemp("cluster")) as address:
        yield address


@pytest.fixture(scope="session")
def python_without_dpress(tmp_path_factory):
    """A Python as on a worker where nobody installed dpress."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "dpress.py").write_text(SHADOW)
    program_file = folder / "python"
    program_file.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    program_file.chmod(0o755)
    return str(program_file)


@pytest.fixture(scope="session")
def connect_server(tmp_path_factory, python_without_dpress):
    """The address of a server of Spark Connect, whose Python has no dpress."""
    pytest.importorskip("grpc", reason="needs dpress[spark-connect]")
    if shutil.which("java") is None:
        pytest.skip("there is no Java; .ci/run installs one")
    port, folder = free_port(), tmp_path_factory.mktemp("connect")
    own = {"binding.port": port, "binding.address": "127.0.0.1"}
    settings = [word for name, value in own.items() for word in ("--conf", f"spark.connect.grpc.{name}={value}")]
    settings += ["--conf", "spark.ui.enabled=false", "--master", "local[2]", "--class", CONNECT, "spark-internal"]
    running = program(folder, "connect", SUBMIT, *settings, ready="server started at", python=python_without_dpress)
    with running:
        yield f"sc://127.0.0.1:{port}"
