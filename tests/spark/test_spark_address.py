"""Addresses of Spark: their forms, what they may not hold, and that somebody answers; a session is set by them."""

import os
import socket

import pytest
from click.testing import CliRunner

from dpress.cli.publish import command
from dpress.core.basics.errors import NotSupported
from dpress.data.sources import spark_address, spark_session
from dpress.data.sources.spark_session import COUNTING, QUIET, SET_ELSEWHERE, SETTINGS


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("MASTER", "SPARK_REMOTE", *SET_ELSEWHERE, *spark_address.PROXIES):
        monkeypatch.setenv(name, "")  # so that it is as it was, whatever the test sets
        monkeypatch.delenv(name)


@pytest.fixture
def taken():
    """A port at which somebody answers, and one at which nobody does."""
    with socket.socket() as server, socket.socket() as nobody:
        server.bind(("127.0.0.1", 0))
        server.listen()
        nobody.bind(("127.0.0.1", 0))
        yield server.getsockname()[1], nobody.getsockname()[1]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("local", "MASTER"),
        ("local[2]", "MASTER"),
        ("local[*]", "MASTER"),
        ("local[2,4]", "MASTER"),
        ("yarn", "MASTER"),
        ("k8s://https://host:6443", "MASTER"),
        ("spark://host:7077", "MASTER"),
        ("spark://one:7077,two:7077", "MASTER"),
        ("sc://host:15002", "SPARK_REMOTE"),
        ("sc://host", "SPARK_REMOTE"),
        ("sc://host:443/;use_ssl=true", "SPARK_REMOTE"),
    ],
)
def test_an_address_is_the_variable_that_spark_reads(monkeypatch, address, name):
    monkeypatch.setenv("MASTER", "local[1]")
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    spark_address.use(address)
    assert spark_address.stated() == os.environ[name] == address
    assert ("MASTER" in os.environ) != ("SPARK_REMOTE" in os.environ)


@pytest.mark.parametrize("address", ["host:7077", "spark://host", "http://host:1", "local[x]", "sc://", "", "sc://a b"])
def test_another_form_is_refused_with_those_that_are(address):
    with pytest.raises(ValueError, match=r"^expected spark://HOST:PORT, sc://HOST:PORT, local\[CORES\], yarn or k8s"):
        spark_address.use(address)
    assert spark_address.stated() == ""


@pytest.mark.parametrize("address", ["sc://host/;token=secret-42", "sc://host/;Token=secret-42", "sc://a:secret-42@h"])
def test_an_address_with_a_secret_is_refused_without_it(address):
    with pytest.raises(ValueError, match=r"^it holds a password or a token; put that into") as refused:
        spark_address.use(address)
    assert "secret" not in str(refused.value)


def test_nobody_at_an_address_is_one_line_at_once(taken):
    there, nobody = taken
    spark_address.check_there(f"spark://127.0.0.1:{nobody},127.0.0.1:{there}")  # of several one that answers is enough
    spark_address.check_there(f"sc://127.0.0.1:{there}/;user_id=ann")
    for address in (f"spark://127.0.0.1:{nobody}", f"sc://127.0.0.1:{nobody}"):
        with pytest.raises(NotSupported, match=f"^nobody answers at {address}; is Spark running there"):
            spark_address.check_there(address)
    with pytest.raises(NotSupported) as refused:
        spark_address.check_there(f"sc://127.0.0.1:{nobody}/;token=secret-42")
    assert "secret" not in str(refused.value)


def test_who_reaches_a_server_by_a_proxy_is_not_asked(taken, monkeypatch):
    nobody = taken[1]
    with pytest.raises(NotSupported, match="nobody answers"):
        spark_address.check_there(f"sc://127.0.0.1:{nobody}")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    spark_address.check_there(f"sc://127.0.0.1:{nobody}")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, SETTINGS),
        ({"MASTER": "local[2]"}, SETTINGS | {"spark.master": "local[2]"}),
        ({"MASTER": "spark://host:7077"}, QUIET | COUNTING | {"spark.master": "spark://host:7077"}),
        ({"SPARK_HOME": "spark"}, QUIET),
        ({"SPARK_HOME": "spark", "MASTER": "yarn"}, QUIET | {"spark.master": "yarn"}),
        ({"PYSPARK_GATEWAY_PORT": "1", "MASTER": "yarn"}, QUIET),  # spark-submit has decided
        ({"SPARK_REMOTE": "sc://host"}, {}),
    ],
)
def test_the_terminal_stays_clean_whoever_sets_the_rest(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert spark_session._settings(spark_address.stated()) == expected


def test_what_starts_java_leaves_standard_error_as_it_was(capfd):
    with spark_session._no_lines_of_java():
        os.system("echo from a program >&2")  # noqa: S605
    os.system("echo after it >&2")  # noqa: S605
    assert capfd.readouterr().err == "after it\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--spark", "local[2]"), "--spark is for --engine spark; add it"),
        (("--spark", "local[2]", "--engine", "sql"), "--spark is for --engine spark; add it"),
        (("--engine", "spark", "--spark", "host"), "--spark: expected spark://HOST:PORT"),
    ],
)
def test_the_option_is_refused_before_anything_is_read(words, line):
    result = CliRunner().invoke(command, ["spec.toml", "--out", "out", *words])
    assert result.exit_code == 2
    assert line in result.output


def test_files_for_executors_are_named_from_the_root(tmp_path, monkeypatch):
    from dpress.data.sources.open_source import open_source

    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text("age\n1\n")
    monkeypatch.chdir(tmp_path)
    for engine, path in (("spark", tmp_path / "rows" / "a.csv"), (None, None)):
        source = open_source("rows", engine=engine).source
        assert source.name == "rows"
        assert (source.stamp()[0][0] == str(path)) == (engine == "spark")
