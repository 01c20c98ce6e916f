"""The Spark session that does the work: the one that is there, or one on this machine's cores."""

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

JAVA = 17
PANDAS = "PySpark does not yet fully support pandas"  # it warns; no pandas frame is made here
SET_ELSEWHERE = (
    "MASTER",
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
    "SPARK_REMOTE",
)
"""Variables of the environment by which Spark is set, by `spark-submit` or by whoever installed it."""
JVM_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE")
"""Those that name a Java process, or a server, that runs already."""
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",  # sums of floats in one order: docs/decisions/0036
    "spark.log.level": "OFF",  # Spark's messages may quote rows
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def active_session() -> Any:
    """Return the session of this process; where there is none, a new one: by default on all cores of this machine.

    A session of `spark-submit`, a notebook or a cluster is used as it is set; SETTINGS hold where nothing is set.

    Raises:
        NotSupported: pyspark or Java is missing, or Java is too old.
    """
    with quiet():
        session = load("pyspark.sql", extra="spark", need='engine "spark" needs pyspark').SparkSession
        active = session.getActiveSession()
        return active if active is not None else _started(session.builder)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out pyspark's warning about a pandas that is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=PANDAS, category=FutureWarning)
        yield


def _started(builder: Any) -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not any(name in os.environ for name in SET_ELSEWHERE):
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
    if not any(name in os.environ for name in JVM_ELSEWHERE) and _java() is None:
        raise NotSupported(_why_not())  # before Spark's own script says so in several lines
    with contextlib.suppress(Exception):  # whatever an engine raises may quote anything
        return builder.getOrCreate()
    raise NotSupported(_why_not())


def _why_not() -> str:
    """Return why no session starts, as far as Java says."""
    program = _java()
    install = f"install Java {JAVA} or newer (Debian: apt install openjdk-{JAVA}-jre-headless), or set JAVA_HOME"
    if program is None:
        return f'engine "spark" needs Java, and there is none; {install}'
    answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)  # noqa: S603  # Java
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    if version and int(version[1]) < JAVA:
        return f'engine "spark" needs Java {JAVA}, and {program} is Java {version[1]}; {install}'
    return "Spark starts no session; its own messages on standard error say why (`python -m pyspark.shell` tries it)"


def _java() -> str | None:
    """Return the program that Spark would start, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return program if program is not None and Path(program).exists() else None
