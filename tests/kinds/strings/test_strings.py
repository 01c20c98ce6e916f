"""Strings from a specification to a page: planned, asked round by round, estimated, read back, and what is refused."""

from typing import Any

import pyarrow as pa
import pytest

from dpress import load_release
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.specification.spec import load_spec
from dpress.document.design import decode, encode
from dpress.kinds.strings import plan_text
from dpress.query.designs import load_design
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import NEXT, next_design
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan
from dpress.release.truth.check_text import lines
from dpress.release.truth.data_check import check
from dpress.release.truth.evaluate import evaluate
from dpress.reporting.page import page

HARD = '"<b>'
OFTEN = {"tea": 5200, HARD: 3400, "other": 2000, "é": 1800}
UNFIT = ["", "much too long", None, "a\0b"]
WORDS = pa.table({"word": [one for one, people in OFTEN.items() for _ in range(people)] + UNFIT * 300})


def spec(attribute: dict[str, Any] | None = None, privacy: dict[str, Any] | None = None, **release: Any) -> Any:
    own = {"longest": 5, "kept": 8, "users": 14000} | release.pop("parameters", {})
    return load_spec(
        {
            "attribute": [{"name": "word", "kind": "categorical", "values": "discover", **(attribute or {})}],
            "privacy": {"model": "local", "epsilon": 2.0, **(privacy or {})},
            "release": {"kind": "strings", "parameters": own, **release},
        }
    )


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run all rounds; return the folders of their releases."""
    place, found, asked = tmp_path_factory.mktemp("strings"), [], plan(spec()).design
    while True:
        number = len(found)
        perturb(asked, WORDS, out=place / f"reports{number}", rng=rng.seeded(20 + number))
        estimate(asked, place / f"reports{number}", out=place / f"round{number}")
        found.append(place / f"round{number}")
        if not (found[-1] / NEXT).exists():
            return found
        asked = load_design(found[-1] / NEXT)


def test_the_plan_says_how_many_must_hold_a_string() -> None:
    planned = plan(spec())
    own = plan_text.plain(planned, planned.chosen)
    assert own["rounds"] == 4
    half, nearly = own["count_for_chance"].values()
    assert (half, nearly) == (1105, 1514)
    assert f"is found with a chance of at least about 50 % where {half:,} hold it" in plan_text.text(planned).remarks[0]
    assert plan(spec(parameters={"longest": 32})).chosen.mechanism.estimator.rounds == (1,) * 16
    assert own["claim"]["proven"] == {"epsilon": 2.0}


def test_rounds_read_the_column_that_the_specification_names(tmp_path: Any) -> None:
    first = plan(spec({"column": "typed", "title": "Words", "other": "another"})).design
    perturb(first, WORDS.rename_columns(["typed"]), out=tmp_path / "reports", rng=rng.seeded(3))
    estimate(first, tmp_path / "reports", out=tmp_path / "round")
    (word,) = load_design(tmp_path / "round" / NEXT).schema.tabular
    assert (word.columns, word.caption, word.other) == (("typed",), "Words", "another")


def test_all_rounds_find_the_frequent_strings_and_count_the_rest(folders: Any) -> None:
    release = load_release(folders[-1])
    assert len(folders) == 4
    assert release.users == WORDS.num_rows
    assert release.answers.values == ("tea", HARD, "é")  # one that is called as the rest counts there
    for text, count in (("tea", 5200), ("other", 3200)):
        found = release.query(f"word = {text}", confidence=0.9999)
        assert found.interval[0] <= count <= found.interval[1]
        assert found.note is not None
    assert release.query("total").value == WORDS.num_rows
    metrics = evaluate(release, WORDS)
    assert metrics["strings_released"] == 3
    assert metrics["released_that_nobody_has"] == 0
    assert metrics["share_among_as_many_most_frequent"] == 1  # of those that are not called as the rest
    html = page(release)
    assert "The most frequent strings of word" in html
    assert "&lt;b&gt;" in html
    assert HARD not in html
    with pytest.raises(ValueError, match="word has no value 'milk'"):
        release.query("word = milk")


def test_intervals_are_wider_where_fewer_are_released_than_tested(folders: Any) -> None:
    answers = load_release(folders[-1]).answers
    tested = len(answers.tested.strings)
    assert answers.level(0.95) == pytest.approx(1 - 0.05 * 3 / tested)
    (table,) = (one.table() for one in answers.published())
    row = table.to_pylist()[0]
    assert row["high"] - row["low"] == 2 * (row["count"] - row["low"])
    assert table["word"].to_pylist() == ["tea", HARD, "é", "other"]
    (earlier,) = (one.table() for one in load_release(folders[0]).answers.published())
    assert earlier["word"].to_pylist() == ["other"]
    assert "0 of 0 strings of word tested in round 1 of 4" in load_release(folders[0]).answers.announced[0]


def test_the_next_design_follows_from_the_release_and_from_nothing_else(folders: Any) -> None:
    written = (folders[1] / NEXT).read_text(encoding="utf-8")
    assert written == encode(next_design(load_release(folders[1])))


def test_candidates_that_the_estimator_does_not_ask_about_are_refused(folders: Any, tmp_path: Any) -> None:
    text = (folders[0] / NEXT).read_text(encoding="utf-8")
    design = decode(text)
    (asked,) = design.ask.attributes
    planted = text.replace(f'"{asked.prefixes[0]}"', f'"01{asked.prefixes[0][2:]}"', 1)
    assert planted != text
    (tmp_path / "planted.json").write_text(planted, encoding="utf-8")
    with pytest.raises(SchemaMismatch, match="not those that the estimator's round asks about"):
        load_design(tmp_path / "planted.json")


def test_a_round_that_found_nothing_says_so_and_has_no_next(tmp_path: Any) -> None:
    asked = spec(privacy={"epsilon": 0.1}, parameters={"kept": 1, "longest": 2})
    few = WORDS.slice(0, 60)
    perturb(asked, few, out=tmp_path / "reports", rng=rng.seeded(6))
    release = estimate(asked, tmp_path / "reports", out=tmp_path / "out")
    assert not (tmp_path / "out" / NEXT).exists()
    assert release.answers.announced[0].startswith("Nothing found of word in round 1 of 2: no beginning of a string")
    assert release.query("word = other").value == release.users
    assert "0 strings" in page(release)


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (
            {"privacy": {"model": "central"}},
            r"\$.release.kind: \"strings\" asks devices .* kind = \"names\" releases them",
        ),
        ({"privacy": {"delta": 1e-6}}, r"\$.privacy: model = \"local\" needs `epsilon` alone"),
        ({"method": "krr"}, r"\$.release.method: 'krr' finds no strings; pem does"),
        ({"attribute": {"values": ["tea"]}}, r"\$.release.attributes: kind = \"strings\" releases one categorical"),
        ({"attribute": {"null": "drop"}}, r"\$.attribute: word drops values"),
        ({"postprocess": ["integer"]}, r"\$.release.postprocess: kind = \"strings\" adjusts no counts"),
        ({"parameters": {"longest": 33}}, r"\$.release.parameters.longest: expected at most 32, got 33"),
        ({"parameters": {"kept": 0}}, r"\$.release.parameters.kept: expected an integer from 1 to 1024, got 0"),
        (
            {"parameters": {"ways": 2}},
            r"unknown parameter 'ways' for a local collection of kind 'strings'; known: users, longest",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(asked: dict[str, Any], line: str) -> None:
    with pytest.raises((NotSupported, ValueError), match=line) as refused:
        plan(spec(**asked))
    assert "\n" not in str(refused.value)


def test_a_missing_string_is_refused_where_the_specification_says_so(tmp_path: Any) -> None:
    with pytest.raises(SchemaMismatch, match="attribute word: a value is missing or not of its type"):
        perturb(spec(attribute={"null": "reject"}), WORDS, out=tmp_path / "reports", rng=rng.seeded(1))
    assert not (tmp_path / "reports").exists()


def test_the_check_says_how_many_strings_would_count_with_the_rest() -> None:
    found = check(spec(), WORDS)
    strings = found.findings["strings"].figures
    assert (strings.strings, strings.enough, strings.found) == (5, 1105, 3)
    assert strings.beside == {
        "missing or not in UTF-8": 300,
        "empty": 300,
        "too long": 300,
        "with a zero character": 300,
    }
    text = "\n".join(lines(found))
    assert "word: 5 different strings; 3 have 1,105 people, with which one is found with a chance of 50 %" in text
    assert "  300 too long: they count with the rest" in text
