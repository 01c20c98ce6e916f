"""What is missing or wrong stands at its field: every empty one is named, and a refusal's path leads to one that is."""

from pathlib import Path

import msgspec
import pytest

from dpress import catalog
from dpress.core.basics.refusal import one_line
from dpress.studio import acts, faults, routes
from dpress.studio.draft import Column, Draft, Wish

AGE = Column(name="age", use=True, kind="integer", low="0", high="99", bins="10")
PAGES = Path(routes.__file__).with_name("pages")
TYPED = {
    "values": "a\nb",
    "low": "1",
    "high": "2",
    "bins": "2",
    "cells": "day",
    "zone": "UTC",
    "beside": "lat",
    "low_beside": "1",
    "high_beside": "2",
    "levels": "a, b",
    "tree": "no.csv",
}


def named(session, **changes):
    """Return what is wrong with the first wish, by field."""
    session.keep(msgspec.structs.replace(session.draft, **changes))
    return {fault.at: fault.line for fault in session.wishes[0]["faults"]}


@pytest.mark.parametrize("kind", faults.NEEDED)
def test_every_empty_field_of_a_column_is_named_and_no_other(session, kind):
    needed = {member for member, _ in faults.NEEDED[kind]}
    bare = Column(name="c", use=True, kind=kind)
    assert set(named(session, columns=[AGE, bare])) == {f"columns/c/{member}" for member in needed}
    typed = {member: TYPED[member] for member in needed if member in TYPED}
    left = named(session, columns=[AGE, msgspec.structs.replace(bare, **typed)])
    assert not any(fault.empty for fault in session.wishes[0]["faults"] if kind)
    assert set(left) <= {f"columns/c/{member}" for member in ("kind", "low", "high", "tree")}


def test_days_of_the_week_need_no_bounds(session):
    assert named(session, columns=[Column(name="day", use=True, kind="date", cells="weekday")]) == {}


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"low": "x"}, "low"),
        ({"high": "x"}, "high"),
        ({"low": "9", "high": "0"}, "high"),
        ({"bins": "x"}, "bins"),
        ({"bins": "1000"}, "bins"),
        ({"kind": "numeric", "low": "x"}, "low"),
        ({"kind": "date", "low": "2024-01-01", "high": "x", "cells": "day"}, "high"),
        ({"kind": "datetime", "low": "2024-01-01", "high": "2024-01-09", "cells": "day", "zone": "Mars"}, "zone"),
        ({"kind": "location", "beside": "lat", "low_beside": "x", "high_beside": "3"}, "low_beside"),
        ({"kind": "location", "beside": "lat", "low_beside": "1", "high_beside": "x"}, "high_beside"),
        ({"kind": "categorical", "values": "a\na"}, "values"),
        ({"kind": "hierarchy", "levels": "a, b", "tree": "no.csv"}, "tree"),
    ],
)
def test_a_refusal_of_a_column_is_at_its_field(session, changes, at):
    (found,) = named(session, columns=[msgspec.structs.replace(AGE, **changes)]).items()
    assert found[0] == f"columns/age/{at}"
    assert "$." not in found[1]


@pytest.mark.parametrize(
    ("changes", "at", "line"),
    [
        ({"unit": ""}, "unit", "say whom"),
        ({"unit": "person"}, "person", "choose the column"),
        ({"unit": "person", "person": "uid", "rows_per_unit": ""}, "rows_per_unit", "say at most"),
        ({"unit": "person", "person": "uid", "rows_per_unit": "x"}, "rows_per_unit", "expected an integer"),
        ({"columns": []}, "source", "look at the columns"),
        ({"columns": [Column(name="age")]}, "columns", "use at least one"),
        ({"epsilon": ""}, "epsilon", "state the budget"),
        ({"epsilon": "much"}, "epsilon", "expected a number"),
        ({"delta": "2"}, "delta", "between 0 and 1"),
        ({"source": "rows.csv", "encoding": "mars"}, "encoding", "name of an encoding"),
        ({"wishes": [Wish(name="m", epsilon="x")]}, "wishes/m/epsilon", "expected a number"),
        ({"wishes": [Wish(name="m", epsilon="5")]}, "wishes/m/epsilon", "of which 1 is left"),
        ({"wishes": [Wish(name="")]}, "wishes//name", "name it"),
        ({"wishes": [Wish(name="a b")]}, "wishes/a b/name", "expected a name of letters"),
        ({"wishes": [Wish(name="m"), Wish(name="m")]}, "wishes/m/name", "rename one"),
        ({"wishes": [Wish(name="m", kind="statistics")]}, "wishes/m/by", "tick at least one"),
        ({"wishes": [Wish(name="m", kind="queries")]}, "wishes/m/more", "write what you ask"),
        ({"wishes": [Wish(name="m", more="x =")]}, "wishes/m/more", "no lines of TOML"),
        ({"wishes": [Wish(name="m", kind="")]}, "wishes/m/sql", "write a statement"),
    ],
)
def test_what_else_is_missing_or_wrong_is_at_its_field(session, changes, at, line):
    found = named(session, **changes)
    assert list(found) == [at]
    assert line in found[at]


def test_all_that_is_missing_is_named_at_once(session):
    columns = [Column(name="age", use=True), msgspec.structs.replace(AGE, name="size", high="x")]
    found = named(session, columns=columns, unit="", epsilon="")
    assert list(found) == ["columns/age/kind", "columns/size/high", "unit", "epsilon"]


def test_what_only_a_plan_refuses_is_at_its_field(session):
    for kind, more, at in (("spatial", "", "attributes"), ("marginals", "foo = 3", "more")):
        assert named(session, wishes=[Wish(name="m", kind=kind, more=more)]) == {}
        with pytest.raises(ValueError, match="release") as refused:
            acts.forecast(session, "m")
        assert faults.of_refusal(one_line(refused.value), session.draft, "m").at == f"wishes/m/{at}"


def test_a_file_that_cannot_be_read_is_at_the_field_that_names_it(client, session):
    session.keep(msgspec.structs.replace(session.draft, source="/no/such.parquet"))
    assert client.post("/columns").json()["at"] == "source"
    assert client.post("/codebook", content="no.csv").json()["at"] == "path"


def test_every_field_that_is_named_is_on_the_page():
    script = "".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.js"))
    offered = {field.name for wished in catalog.wished() for field in wished.fields}
    members = {member for needed in faults.NEEDED.values() for member, _ in needed} | set(faults.SIDES.values())
    for member in (members | set(Draft.__struct_fields__)) - {"wishes", "contact", "license"} - offered:
        assert f'"{member}"' in script, member
