"""The Spark session that does the work: the one that is there, or a new one of a cluster or of this machine."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.extras import load
from dpress.data.sources import spark_address

JAVA = 17
PANDAS = "PySpark does not yet fully support pandas"  # it warns; no pandas frame is made here
SET_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables of the environment by which Spark is set, by `spark-submit` or by whoever installed it."""
JVM_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE")
"""Those that name a Java process, or a server, that runs already."""
QUIET = {
    "spark.log.level": "OFF",  # Spark's messages may quote rows
    "spark.ui.showConsoleProgress": "false",
}
"""What keeps the terminal clean, whoever sets the rest."""
COUNTING = {
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",  # sums of floats in one order: docs/decisions/0036
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
HERE = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
"""For a session on this machine's cores: nobody else reaches it."""
SETTINGS = QUIET | COUNTING | HERE


def active_session() -> Any:
    """Return the session of this process; where there is none, a new one: by default on all cores of this machine.

    A session of `spark-submit`, a notebook or a cluster is used as it is set; a new one starts where MASTER or
    SPARK_REMOTE say, with SETTINGS as far as nobody else sets it.

    Raises:
        NotSupported: pyspark or Java is missing, Java is too old, or nobody answers at the address.
    """
    with quiet():
        session = load("pyspark.sql", extra="spark", need='engine "spark" needs pyspark').SparkSession
        active = session.getActiveSession()
        return active if active is not None else _started(session.builder)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out pyspark's warning about a pandas that is not used, and what a driver here would log meanwhile."""
    with warnings.catch_warnings(), _logs_off():
        warnings.filterwarnings("ignore", message=PANDAS, category=FutureWarning)
        yield


@contextlib.contextmanager
def _logs_off() -> Iterator[None]:
    """Have Spark's driver log nothing, for its messages may quote rows; afterwards what it did before."""
    context: Any = getattr(getattr(sys.modules.get("pyspark"), "SparkContext", None), "_active_spark_context", None)
    level = ""
    with contextlib.suppress(Exception):  # a session whose driver is not here, or another way to log
        root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()  # noqa: SLF001  # there is no other way
        level = str(root.getLevel())
        context.setLogLevel("OFF")
    try:
        yield
    finally:
        with contextlib.suppress(Exception):
            if level:
                context.setLogLevel(level)


def _started(builder: Any) -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    address = spark_address.stated()
    spark_address.check_there(address)
    for name, value in _settings(address).items():
        builder = builder.config(name, value)
    if not any(name in os.environ for name in JVM_ELSEWHERE) and _java() is None:
        raise NotSupported(_why_not(address))  # before Spark's own script says so in several lines
    reason = ""
    with _no_lines_of_java():
        try:
            return builder.getOrCreate()
        except ImportError:
            reason = "Spark Connect needs more of pyspark: pip install 'dpress[spark-connect]'"
        except Exception:  # noqa: BLE001, S110  # whatever an engine raises may quote anything
            pass
    raise NotSupported(reason or _why_not(address))


def _settings(address: str) -> dict[str, str]:
    """Return what a new session is set to: all where nothing is set, else only what nobody would set otherwise."""
    if address.startswith(spark_address.CONNECT):
        return {}  # a server is set by whoever runs it
    if any(name in os.environ for name in SET_ELSEWHERE):
        stated = {"spark.master": address} if address and "PYSPARK_GATEWAY_PORT" not in os.environ else {}
        return QUIET | stated
    if not address or address.startswith(spark_address.LOCAL):
        return SETTINGS | ({"spark.master": address} if address else {})
    return QUIET | COUNTING | {"spark.master": address}


@contextlib.contextmanager
def _no_lines_of_java() -> Iterator[None]:
    """Start processes without standard error: Java writes there before any setting counts, and later quotes rows."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _why_not(address: str) -> str:
    """Return why no session starts, as far as Java says."""
    program = _java()
    install = f"install Java {JAVA} or newer (Debian: apt install openjdk-{JAVA}-jre-headless), or set JAVA_HOME"
    if program is None:
        return f'engine "spark" needs Java, and there is none; {install}'
    answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)  # noqa: S603  # Java
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    if version and int(version[1]) < JAVA:
        return f'engine "spark" needs Java {JAVA}, and {program} is Java {version[1]}; {install}'
    place = f" at {spark_address.shown(address)}" if address else ""
    return f"Spark starts no session{place}; `python -m pyspark.shell` tries the same, and says why"


def _java() -> str | None:
    """Return the program that Spark would start, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return program if program is not None and Path(program).exists() else None
