"""What a wish spends of the budget, before and after: in parts that somebody chooses, and what is left for nothing."""

import io
import zipfile

import msgspec
import pytest

from dpress import catalog
from dpress.studio import acts, in_sql, written
from dpress.studio.draft import Wish


def wishing(session, *parts, **changes):
    """Wish for a table of ages and one of sexes, with these parts of the budget; return what the page says of them."""
    wishes = [
        Wish(name=name, attributes=[name], epsilon=part) for name, part in zip(("age", "sex"), parts, strict=False)
    ]
    session.keep(msgspec.structs.replace(session.draft, wishes=wishes, **changes))
    open_wishes = [state for state in session.wishes if not state["published"]]
    return [(state["epsilon"], state["left"], state["after"]) for state in open_wishes]


@pytest.mark.parametrize(
    ("part", "epsilon", "after"),
    [("", "0.6", 0.0), ("all", "0.6", 0.0), ("half", "0.3", 0.3), ("tenth", "0.06", 0.54), ("0.5", "0.5", 0.1)],
)
def test_a_wish_says_what_it_spends_and_what_is_left_after_it(session, part, epsilon, after):
    assert wishing(session, part, epsilon="0.6") == [(epsilon, 0.6, after)]
    charged = acts.publish(session, "age")["charged"]
    assert charged == {"epsilon": pytest.approx(float(epsilon))}
    assert session.ledger["left"] == {"epsilon": after}


def test_shares_are_of_what_the_ledger_has_left(session):
    wishing(session, "tenth")
    acts.publish(session, "age")
    assert wishing(session, "tenth", "half") == [("0.45", 0.9, 0.45)]
    acts.publish(session, "sex")
    assert session.ledger["left"] == {"epsilon": 0.45}


def test_an_equal_part_is_of_what_shares_leave(session):
    assert wishing(session, "", "tenth") == [("0.9", 1.0, 0.1), ("0.1", 1.0, 0.9)]
    assert wishing(session, "", "all")[0][0] == written.SPENT


@pytest.mark.parametrize("whole", ["", "much", "1/0"])
def test_a_budget_that_is_no_number_says_nothing_of_what_is_left(session, whole):
    assert [left for _, *left in wishing(session, "half", epsilon=whole)] == [[None, None]]


def test_all_is_spent_to_the_last_digit(session):
    wishing(session, "0.333333", epsilon="1")
    acts.publish(session, "age")
    wishing(session, "0.333333", "all")
    acts.publish(session, "sex")
    assert session.ledger["left"] == {"epsilon": 0.0}


def test_records_and_a_zip_of_what_is_published_cost_nothing(session, client):
    wishing(session, "all")
    acts.publish(session, "age")
    spent = session.ledger
    made = client.post("/wishes/records", content="age").json()
    assert (made["count"], made["csv"].splitlines()[0], len(made["csv"].splitlines())) == (600, '"age"', 601)
    content = client.get("/bundle", params={"name": "age"}).content
    assert {"release.json", "report.html"} <= set(zipfile.ZipFile(io.BytesIO(content)).namelist())
    assert session.ledger == spent
    for answer in (client.post("/wishes/records", content="sex"), client.get("/bundle", params={"name": "sex"})):
        assert answer.status_code == 400


@pytest.mark.parametrize(
    ("wish", "publish"),
    [
        (Wish(name="pets", attributes=["pet"]), acts.publish),
        (Wish(name="pets", kind="", sql="select pet, count(*) from people group by pet"), in_sql.publish),
    ],
    ids=["tables", "a statement"],
)
def test_a_refused_wish_leaves_no_file_and_the_budget_can_be_changed(session, wish, publish):
    columns = [msgspec.structs.replace(column, other="") for column in session.draft.columns]
    session.keep(msgspec.structs.replace(session.draft, wishes=[wish], columns=columns))
    with pytest.raises(ValueError, match="not in its cells"):
        publish(session, "pets")
    assert [path.name for path in session.folder.iterdir()] == ["studio.json"]
    columns[-1] = msgspec.structs.replace(columns[-1], other="another")
    session.keep(msgspec.structs.replace(session.draft, epsilon="3", columns=columns))
    publish(session, "pets")
    assert session.ledger["limit"] == {"epsilon": 3.0}


def test_what_was_saved_before_a_refusal_stays(session):
    columns = [msgspec.structs.replace(column, other="") for column in session.draft.columns]
    session.keep(
        msgspec.structs.replace(session.draft, wishes=[Wish(name="pets", attributes=["pet"])], columns=columns)
    )
    acts.save(session, "pets")
    with pytest.raises(ValueError, match="not in its cells"):
        acts.publish(session, "pets")
    assert sorted(path.name for path in session.folder.iterdir()) == ["pets.toml", "studio.json"]


def test_records_are_offered_where_they_can_be_drawn(session):
    drawn = [wished.kind for wished in catalog.wished() if wished.drawn]
    assert sorted(drawn) == ["histogram", "joint", "marginals"]
    session.keep(msgspec.structs.replace(session.draft, wishes=[Wish(name=kind, kind=kind) for kind in drawn]))
    for kind in drawn:
        acts.publish(session, kind)
        assert acts.records(session, kind)["count"] == 600
