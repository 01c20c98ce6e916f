"""A password in a URL is found in every form that libpq reads, and is not echoed; user names and hosts are none."""

import sys

import pytest
from psycopg.conninfo import conninfo_to_dict

from dpress.core.basics.database_url import connectable, is_postgres
from dpress.core.basics.errors import NotSupported

SECRET = "4711-secret"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@host/db",
        f"postgres://ann:{SECRET}@host:5432,other:5433/db",
        f"postgresql://:{SECRET}@host",
        f"postgresql://ann:{SECRET}#@host/db",
        f"postgresql://ann:{SECRET}?@host/db",
        f"postgresql://host/db?user=ann&password={SECRET}",
        f"postgresql://host/db?p%61ssword={SECRET}",
        f"postgresql://host/db?sslpassword={SECRET}",
    ],
)
def test_every_password_that_libpq_would_read_is_refused_unseen(url):
    assert {"password", "sslpassword"} & conninfo_to_dict(url).keys()
    with pytest.raises(ValueError, match="the URL of the ledger holds a password; put it into PGSERVICEFILE") as caught:
        connectable(url, "the ledger")
    assert SECRET not in str(caught.value)


def test_a_password_with_a_slash_is_found_though_libpq_takes_it_for_a_port():
    assert "password" not in conninfo_to_dict(f"postgresql://ann:{SECRET}/x@host/db")
    with pytest.raises(ValueError, match="holds a password"):
        connectable(f"postgresql://ann:{SECRET}/x@host/db", "the ledger")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql:///db",
        "postgres://ann@host:5432/db",
        "postgresql://ann@[::1]:5432/db",
        "postgresql://host:5432/db?user=ann@office",
        "postgresql://ann:@host/db?options=-csearch_path%3Dteam",
        "postgresql:///?service=office",
    ],
)
def test_urls_without_one_are_taken_as_they_are_and_given_limits(url):
    stated = conninfo_to_dict(connectable(url, "the ledger"))
    assert is_postgres(url)
    assert stated.pop("connect_timeout") == "10"
    assert {name: value for name, value in stated.items() if not name.startswith("keepalives")} == conninfo_to_dict(url)


def test_limits_of_the_url_itself_count():
    assert conninfo_to_dict(connectable("postgresql://h/d?connect_timeout=3", "the store"))["connect_timeout"] == "3"


def test_what_is_no_url_is_not_echoed():
    with pytest.raises(ValueError, match="no URL of PostgreSQL: postgresql://USER@HOST/DATABASE") as caught:
        connectable(f"postgresql://h?{SECRET}=1", "the store")
    assert SECRET not in str(caught.value)
    assert not is_postgres("budget.db")


def test_a_missing_driver_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(NotSupported, match=r"the ledger in PostgreSQL needs: pip install 'dpress\[postgres\]'"):
        connectable("postgresql://host/db", "the ledger")
