"""`dpress session`: what is typed, from a pipe; the error before the charge, and nothing of the rows before it."""

import io
import json
from fractions import Fraction

import pytest

from dpress import Ledger

SPEC = """
[data]
source = "rows.csv"

[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]

[[attribute]]
name = "ward"
kind = "categorical"
values = ["eyes", "ear"]

[privacy]
epsilon = 1
"""
BY_WARD = "select ward, count(*) from visits group by ward"
START = ("session", "people.toml", "--ledger", "budget.sqlite")


@pytest.fixture
def typed(here, tmp_path, monkeypatch):
    """Run a session over lines of standard input."""
    (tmp_path / "people.toml").write_text(SPEC)
    (tmp_path / "rows.csv").write_text("age,ward\n" + "30,eyes\n70,ear\n" * 100)

    def run(*lines, options=()):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return here(*START, *options)

    return run


def left(tmp_path):
    return Ledger.open(tmp_path / "budget.sqlite").summary().remaining["epsilon"]


def test_the_error_stands_before_the_charge_and_the_table_behind_it(typed, tmp_path) -> None:
    done = typed(BY_WARD, "spend 0.5", "y", "history", "left")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "Session: people-session, 0 statements so far; help lists what can be typed"
    assert lines[2:5] == [
        "epsilon = 0.1 would say:",
        "  count: +- 14.1; with twice the budget +- 7.06",
        "Nothing is charged yet: y accepts, n leaves it; or spend 0.2, within 5 %",
    ]
    assert lines[5:7] == ["epsilon = 0.5 would say:", "  count: +- 2.8; with twice the budget +- 1.36"]
    assert [line.split()[0] for line in lines[8:11]] == ["ward", "eyes", "ear"]
    assert lines[11] == "Charged for statement 1. Left: epsilon = 0.5"
    assert lines[13].split()[0] == "1"
    assert lines[14] == "Left: epsilon = 0.5"
    assert left(tmp_path) == 0.5


def test_an_error_that_is_wished_for_is_planned_for(typed) -> None:
    done = typed("within 2 % of 2,000", BY_WARD, "within 1 %", "n")
    assert [line for line in done.out.splitlines() if "would say" in line or "  count" in line] == [
        "epsilon = 0.0356 would say:",
        "  count: +- 39.7; with twice the budget +- 19.9",
        "epsilon = 0.142 would say:",
        "  count: +- 9.95; with twice the budget +- 4.96",
    ]
    assert done.out.splitlines()[-1] == "Nothing was charged."


def test_a_session_is_gone_on_with_and_answers_for_nothing(typed, tmp_path) -> None:
    typed(BY_WARD, "spend 0.5", "y")
    done = typed("select count(*) from visits where ward = 'ear'", "free", BY_WARD, "spend 0.25", "y", "show 1")
    assert done.code == 0, done.err
    assert "Session: people-session, 1 statements so far" in done.out
    assert "Answered by statement 1 for nothing: +- 2.8; free shows it" in done.out
    assert "Nothing is charged: the answer follows from what is released." in done.out
    assert "Together with statement 1, by least squares over all that the releases measured." in done.out
    assert "Charged for statement 2. Left: epsilon = 0.25" in done.out
    assert left(tmp_path) == 0.25


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [
        (
            ["select count(*) from v where ward = 'nose'"],
            "ward has no value 'nose'; it has eyes, ear (line 1, column 38)",
        ),
        (["select count(*) over () from v"], "window functions need rows in order"),
        (["y"], "there is no statement to accept; write one first"),
        (["free"], "no earlier statement answers for nothing"),
        (["spend much"], "expected a number, such as spend 0.1, got 'much'"),
        (["within reason"], "expected an error such as within 5 %, or within 5 % of 2,000, got 'reason'"),
        (["show"], "expected the number of a statement, such as show 2, got ''"),
        (["resume 4"], "there are 0 statements, got 4"),
        ([BY_WARD, "spend 3", "y"], "there is no statement to accept"),
        ([BY_WARD, "spend 3"], "budget exceeded: limit epsilon = 1; spent epsilon = 0; asked epsilon = 3"),
        (["undo"], "only `select` is answered"),
    ],
)
def test_a_refusal_ends_no_session_and_charges_nothing(typed, tmp_path, lines, refusal) -> None:
    done = typed(*lines, "left", "quit", "left")
    assert done.code == 1
    assert refusal in done.err.splitlines()[-1], done.err
    assert "Left: epsilon = 1" in done.out.splitlines()[-2:] or done.out.endswith("Left: epsilon = 1\n")
    assert left(tmp_path) == 1


def test_a_caret_stands_below_the_place(typed) -> None:
    done = typed("select count(*) from v where ward = 'nose'")
    statement, marks, _ = done.err.splitlines()[-3:]
    assert statement.index("nose") == marks.index("^^^^")


def test_nothing_of_the_rows_is_printed_before_the_charge(typed, tmp_path) -> None:
    """Other rows, rows of a value that is not listed, none at all: the same words until something is accepted."""
    lines = (BY_WARD, "within 3 %", "select ward, avg(age) from v group by ward", "select ward from v where age = 31")
    contents = ["age,ward\n1,ear\n" * 2, "age,ward\n" + "31,nose\n" * 5000, "quite something else", None]
    outputs = []
    for content in contents:
        (tmp_path / "rows.csv").unlink()
        if content is not None:
            (tmp_path / "rows.csv").write_text(content)
        done = typed(*lines, "history", "left", options=("--quiet",))
        outputs.append((done.code, done.out, done.err))
        (tmp_path / "rows.csv").touch()
    assert len({*outputs}) == 1
    assert "nose" not in "".join(map(str, outputs))


def test_an_analyst_has_a_share(typed, here, tmp_path) -> None:
    shares = ("--analyst", "ada=0.25", "--analyst", "ben=0.5")
    created = here("ledger", "create", "budget.sqlite", "--epsilon", "1", *shares)
    assert created.out.splitlines()[1:] == ["Share:  ada, epsilon = 0.25", "Share:  ben, epsilon = 0.5"]
    done = typed(BY_WARD, "spend 0.2", "y", "select age from v", "spend 0.1", "y", options=("--analyst", "ada"))
    assert "Charged for statement 1. Left: epsilon = 0.8; epsilon = 0.05 of ada's share" in done.out
    assert left(tmp_path) == Fraction("0.8")
    table = here("ledger", "show", "budget.sqlite").out.splitlines()
    assert table[3:6] == [
        "Share of ada: 0.05 left of epsilon = 0.25",
        "Share of ben: 0.5 left of epsilon = 0.5",
        "Beside the shares: 0.25 left of epsilon = 0.25",
    ]
    assert "analyst" in table[6]
    plain = here("ledger", "show", "budget.sqlite", "--json").json
    assert [entry["analyst"] for entry in plain["entries"]] == ["ada"]
    assert plain["analysts"]["ada"] == pytest.approx({"share": 0.25, "spent": 0.2, "remaining": 0.05})
    assert "no share for the analyst 'eve'" in typed(BY_WARD, options=("--analyst", "eve")).err


@pytest.mark.parametrize("share", ["ada", "=0.5", "ada=0.1 --analyst ada=0.2"])
def test_a_share_has_a_name_and_an_amount(here, tmp_path, share) -> None:
    words = f"--analyst {share}".split()
    done = here("ledger", "create", "l.sqlite", "--epsilon", "1", *words)
    assert (done.code, "expected NAME=SHARE" in done.err) == (2, True)
    assert here("ledger", "create", "l.sqlite", "--epsilon", "1", "--analyst", "ada=2").code == 1
    assert not (tmp_path / "l.sqlite").exists()


def test_json_holds_statements_answers_and_what_is_left(typed) -> None:
    done = typed(BY_WARD, "spend 0.5", "y", options=("--json",))
    plain = json.loads(done.out)
    assert plain["session"] == "people-session"
    (statement,) = plain["statements"]
    assert (statement["statement"], statement["budget"], statement["whole"]) == (BY_WARD, {"epsilon": 0.5}, True)
    assert [row["ward"] for row in plain["answers"][0]["rows"]] == ["eyes", "ear"]
    assert plain["left"] == {"whole": {"epsilon": 0.5}}


def test_what_was_not_accepted_is_not_charged(typed, tmp_path) -> None:
    done = typed(BY_WARD)
    assert done.out.splitlines()[-1] == "Nothing was charged for the last statement: it was not accepted."
    assert left(tmp_path) == 1
    assert typed("help", "quit", BY_WARD).out.splitlines()[-1] == "quit"


def test_releases_are_paid_from_shares_too(typed, here, tmp_path) -> None:
    typed()
    (tmp_path / "small.toml").write_text(SPEC.replace("epsilon = 1", 'epsilon = 0.1\n[release]\nkind = "histogram"'))
    assert here("ledger", "create", "shared.sqlite", "--epsilon", "1", "--analyst", "ada=1").code == 0
    publish = ("publish", "small.toml", "--ledger", "shared.sqlite", "--out")
    refused = here(*publish, "a")
    assert (refused.code, "budget exceeded: what no analyst has a share of, epsilon = 0" in refused.err) == (1, True)
    assert here(*publish, "a", "--analyst", "ada").code == 0
    assert here(*publish, "b", "--analyst", "ada", "--sql", BY_WARD).code == 0
    summary = Ledger.open(tmp_path / "shared.sqlite").summary()
    assert [entry.analyst for entry in summary.entries] == ["ada", "ada"]
    assert here(*publish, "c", "--analyst", "ada", "--period", "2024").code == 2
