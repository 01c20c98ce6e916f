"""What is missing, or too old, is one line; a session is set only where nobody else sets it."""

import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest

from dpress.core.basics.errors import NotSupported
from dpress.data.sources import spark_session
from dpress.data.sources.spark_failure import LOST, OTHERWISE, SIGNS, collected
from dpress.data.sources.spark_frame import understood
from dpress.data.sources.spark_session import QUIET, SET_ELSEWHERE, SETTINGS, active_session


class Builder:
    """Notes what is set, and starts nothing."""

    def __init__(self):
        self.settings = {}

    def config(self, name, value):
        self.settings[name] = value
        return self

    def getOrCreate(self):  # noqa: N802  # Spark's name
        raise RuntimeError("[JAVA_GATEWAY_EXITED] of somebody's machine")


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in (*SET_ELSEWHERE, "MASTER", "SPARK_REMOTE", "JAVA_HOME", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)


def refusal():
    with pytest.raises(NotSupported) as refused:
        spark_session._started(Builder())
    assert refused.value.__context__ is None
    return str(refused.value)


def test_without_pyspark_the_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(NotSupported, match=r"^engine \"spark\" needs pyspark: pip install 'dpress\[spark\]'$"):
        active_session()


def test_without_java_the_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal().startswith('engine "spark" needs Java, and there is none; install Java 17 or newer')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert refusal().startswith('engine "spark" needs Java, and there is none')


def test_without_java_spark_s_own_script_is_not_started(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(Builder, "getOrCreate", lambda _builder: started.append("a session"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    refusal()
    assert not started
    monkeypatch.setenv("https_proxy", "http://proxy")  # nobody is asked whether it is there
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")  # whose Java is not here
    spark_session._started(Builder())
    assert started


@pytest.mark.parametrize(("version", "old"), [("1.8.0_292", "8"), ("11.0.2", "11"), ("17.0.15", None), ("21", None)])
def test_an_old_java_is_named(monkeypatch, tmp_path, version, old):
    (folder := tmp_path / "bin").mkdir()
    (java := folder / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    expected = (
        f'engine "spark" needs Java 17, and {java} is Java {old};'
        if old
        else "Spark starts no session; `python -m pyspark.shell` tries"
    )
    assert refusal().startswith(expected)


def test_a_session_is_set_only_where_nobody_else_sets_it(monkeypatch):
    own, other = Builder(), Builder()
    with pytest.raises(NotSupported):
        spark_session._started(own)
    assert own.settings == SETTINGS
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    with pytest.raises(NotSupported):
        spark_session._started(other)
    assert other.settings == QUIET


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("bigger than spark.driver.maxResultSize (1024.0 MiB)", SIGNS["maxResultSize"]),
        ("java.lang.OutOfMemoryError: Java heap space", SIGNS["OutOfMemoryError"]),
        ("ModuleNotFoundError: No module named 'dpress'", SIGNS["No module named 'dpress'"]),
        ("ExecutorLostFailure (executor 1 exited", LOST),
        ("Python worker exited unexpectedly (crashed)", LOST),
        ("the value 'secret 42' cannot be cast", OTHERWISE),
    ],
)
def test_a_failure_says_what_to_do_and_quotes_nothing(words, line):
    def fails():
        raise RuntimeError(f"{words} in a row of 'secret 42'")

    with pytest.raises(OSError, match=r"^Spark could not count rows: ") as failed:
        collected("rows", fails)
    assert line in str(failed.value)
    assert "secret" not in str(failed.value)
    assert failed.value.__context__ is None


@pytest.mark.parametrize("values", [[1, 2], []])
def test_a_frame_of_spark_3_is_collected_as_well(values):
    from pyspark.sql.types import LongType, StructType

    batches = [pa.record_batch({"x": values})] if values else []
    frame = SimpleNamespace(schema=StructType().add("x", LongType()), _collect_as_arrow=lambda: batches)
    assert collected("rows", lambda: frame) == pa.table({"x": pa.array(values, pa.int64())})


@pytest.mark.parametrize(("version", "compared"), [("3.5.9", "`x`"), ("4.3.0", "`x` COLLATE UTF8_BINARY")])
def test_spark_3_is_not_told_to_compare_bytes_and_every_text_stays(version, compared):
    text = "SELECT ' COLLATE UTF8_BINARY', ` COLLATE UTF8_BINARY` FROM t WHERE {} = 'a'"
    statement = text.format("`x` COLLATE UTF8_BINARY")
    assert understood(statement, SimpleNamespace(version=version)) == text.format(compared)


def test_nothing_of_spark_is_imported_before_it_is_asked():
    script = (
        "import dpress.data.fold, dpress.data.rows, dpress.data.spark.spark_run, sys; print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
