"""The reference's tables of parameters are those that methods and kinds declare; run as a script, this writes them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from dpress import catalog
from dpress.core.basics.parameters import Parameters, listed
from dpress.core.methods.mechanism import Card

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = ("spec.md", "spatial.md")
COMMAND = "python tests/meta/test_parameter_tables.py"
BLOCK = re.compile(r"(<!-- parameters of (.+?) -->\n).*?(<!-- written by a program -->)", re.DOTALL)
MODELS = ("central", "local")


def cards(*families: str, model: str = "") -> list[Card]:
    own = [card for card in catalog.cards().values() if card.model == model or not model]
    return [card for card in own if card.family in families or not families]


def kinds(model: str) -> list[tuple[str, type[Parameters]]]:
    rooms = catalog.kinds().values()
    return [(kind, own) for room in rooms for (kind, at), own in room.parameters.items() if at == model]


def by_owner(heading: str, owners: Iterable[tuple[str, type[Parameters]]]) -> str:
    """Return a table in which the same parameter of several owners has one line."""
    lines = defaultdict[tuple[str, str, str], list[str]](list)
    for owner, own in owners:
        for one in listed(own):
            names = lines[one.name, kind_of_value(one), one.sentence]
            names += [] if f"`{owner}`" in names else [f"`{owner}`"]
    rows = [[f"`{name}`", ", ".join(lines[name, kind, text]), kind, text] for name, kind, text in lines]
    return table(["parameter", heading, "type", "meaning"], rows)


def kind_of_value(one) -> str:
    return f"{one.type}; needed" if one.needed else one.type


def table(header: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [header, ["---"] * len(header), *rows])


def tables() -> dict[str, str]:
    """Return every table by the name in its mark."""
    found = {}
    for model in MODELS:
        found[f"kinds, {model}"] = by_owner("kinds", kinds(model))
        found[f"methods, {model}"] = by_owner("methods", [(card.name, card.parameters) for card in cards(model=model)])
    maps = [(card.name, card.parameters) for card in cards("spatial")]
    whole = [("all", own) for model in MODELS for kind, own in kinds(model) if kind == "spatial"]
    found["maps"] = by_owner("methods", [*whole, *maps])
    return found


def rewritten(text: str) -> str:
    """Return a page with its tables as they should be."""
    found = tables()
    return BLOCK.sub(lambda mark: f"{mark[1]}\n{found[mark[2]]}\n{mark[3]}", text)


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_are_those_that_the_code_declares(name: str) -> None:
    assert rewritten(page(name)) == page(name), f"run `{COMMAND}`"


def test_every_table_stands_somewhere_once() -> None:
    marks = [mark[1] for name in PAGES for mark in BLOCK.findall(page(name))]
    assert sorted(marks) == sorted(tables())


def test_a_table_that_was_edited_by_hand_is_seen() -> None:
    text = page("spec.md")
    edited = text.replace("| `hierarchy` | an integer >= 2 |", "| `hierarchy` | an integer >= 3 |")
    assert edited != text
    assert rewritten(edited) == text


def test_no_parameter_of_the_catalogue_is_missing() -> None:
    text = page("spec.md")
    names = {one.name for card in cards() for one in listed(card.parameters)}
    assert {"branching", "rows", "epsilons"} <= names
    assert {name for name in names if f"| `{name}` |" not in text} == set()


if __name__ == "__main__":
    for page_name in PAGES:
        (REFERENCE / page_name).write_text(rewritten(page(page_name)), encoding="utf-8")
