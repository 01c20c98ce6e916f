"""No URL's password is taken, shown, kept or published, by whichever door it comes; nor is the place of the rows."""

import zipfile

import pytest
from tests.refusals import SECRET

import dpress
from dpress.core.basics.database_url import holds_password, mentions_password
from dpress.data.specification import spec_files as specifications
from dpress.reporting.bundle import write_bundle

URLS = [
    f"postgresql://ann:{SECRET}@host/db#rows",
    f"postgres://ann@host/db?password={SECRET}#rows",
    f"postgresql://host/db?%70assword={SECRET}#rows",
    f"mysql://ann:{SECRET}@host/db#rows",
    f"https://ann:{SECRET}@host/rows.csv",
    f"host=h password={SECRET} dbname=d",
]
HARMLESS = [
    "rows.csv",
    "C:/rows.csv",
    "postgresql://ann@host:5432/db#rows",
    "postgresql://h1:5432,h2:5433/db#rows",
    "postgresql://host:5432#rows",
    "postgresql:///db?service=rows&passfile=/etc/pgpass",
    "s3://bucket/year=2024/rows.parquet",
    "postgresql://[::1]:5432/db",
]
SPEC = """
[data]
source = "{source}"
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[privacy]
unit = "row"
epsilon = 1
[release]
kind = "histogram"
title = "{words}"
"""


def spec(folder, *, source="rows.csv", words="Ages"):
    (folder / "spec.toml").write_text(SPEC.format(source=source, words=words), encoding="utf-8")


@pytest.mark.parametrize("url", URLS)
def test_a_source_with_a_password_is_refused(folder, refused, url):
    spec(folder, source=url)
    assert "spec.toml: $.data.source: the URL of the rows holds a password" in refused("plan", "spec.toml")
    spec(folder)
    assert "the URL of the rows holds a password" in refused("publish", "spec.toml", "--data", url, "--out", "out")
    assert "the URL of the rows holds a password" in refused("check", "spec.toml", "--data", url)


@pytest.mark.parametrize("url", URLS[:3])
def test_a_ledger_and_a_store_with_a_password_are_refused(folder, refused, url):
    place = url.partition("#")[0]
    line = refused("ledger", "create", place, "--epsilon", "1")
    assert "the URL of the ledger holds a password" in line
    spec(folder)
    assert "holds a password" in refused("publish", "spec.toml", "--ledger", place, "--out", "out")
    local = (folder / "spec.toml").read_text(encoding="utf-8").replace('unit = "row"', 'model = "local"')
    (folder / "spec.toml").write_text(local, encoding="utf-8")
    assert "the URL of the store holds a password" in refused("serve", "spec.toml", "--store", place)


@pytest.mark.parametrize("text", [f"from {URLS[0]}", f"ask ftp://ann:{SECRET}@host/ first"])
def test_a_text_for_the_page_with_a_password_is_refused(folder, refused, text):
    spec(folder, words=text)
    assert refused("plan", "spec.toml").startswith("spec.toml: $.release.title: names a URL with a password")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_holds_no_password_is_none(text):
    assert not holds_password(text)
    assert not mentions_password(f"see {text}, or ask ann@example.org: at noon")


def written(folder):
    """Every byte that a publication leaves, but for the specification."""
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file() and one.suffix != ".toml")


@pytest.mark.slow
def test_the_place_of_the_rows_stands_in_nothing_that_is_published(folder, ledger):
    place = folder / f"rows-{SECRET}.csv"
    place.write_text("age\n" + "4\n" * 50, encoding="utf-8")
    spec(folder, source=place.name)
    release = dpress.publish(folder / "spec.toml", out=folder / "out", ledger=ledger)
    dpress.report(release, folder / "out" / "page.html")
    with zipfile.ZipFile(write_bundle(release, folder / "out", folder / "out.zip")) as bundle:
        bundle.extractall(folder / "bundle")
    place.unlink()
    assert SECRET.encode() not in written(folder)
    assert b"Ages" in written(folder)  # the control: the title is


def test_without_the_check_a_password_would_be_published(folder, ledger, monkeypatch):
    monkeypatch.setattr(specifications, "mentions_password", lambda _: False)
    (folder / "rows.csv").write_text("age\n" + "4\n" * 50, encoding="utf-8")
    spec(folder, words=f"from {URLS[0]}")
    dpress.publish(folder / "spec.toml", out=folder / "out", ledger=ledger)
    assert SECRET.encode() in written(folder)
