"""The products of statistics: none knows another, and each has every part that is asked for by name."""

import importlib
import itertools
import re
from pathlib import Path

import pytest

import dpress.kinds.statistics

ROOM = Path(dpress.kinds.statistics.__file__).parent
PRODUCTS = ("curator", "relations", "devices")
MEMBERS = {
    "answers": ("ANSWERING",),
    "design": ("choose",),
    "evaluate": ("evaluate",),
    "page": ("made",),
    "plan_text": ("text", "expected_errors"),
}
"""What the room's files take of a part, by the part."""


def names_product(text: str, product: str) -> bool:
    """Say whether a module imports from a product."""
    return re.search(rf"statistics(\.{product}\b| import .*\b{product}\b)", text) is not None


def parts_asked(texts: list[str]) -> set[str]:
    """Return the parts that modules ask for by name."""
    return {name for text in texts for name in re.findall(r'product\.part\(\s*"(\w+)"', text)}


@pytest.mark.parametrize(("product", "other"), [*itertools.permutations(PRODUCTS, 2)])
def test_a_product_never_imports_another(product: str, other: str) -> None:
    texts = [path.read_text("utf-8") for path in (ROOM / product).glob("*.py")]
    assert texts
    assert not any(names_product(text, other) for text in texts)
    planted = [f"from dpress.kinds.statistics.{other}.answers import ANSWERING\n"]
    planted.append(f"from dpress.kinds.statistics import {other}\n")
    assert all(names_product(text, other) for text in planted)


def test_what_both_need_asks_for_parts_by_name_alone() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in ROOM.glob("*.py")}
    alone = {"check": "curator"}  # rows are checked before a curator publishes, never for devices
    for name, text in texts.items():
        assert not [product for product in PRODUCTS if names_product(text, product) and alone.get(name) != product], (
            name
        )
    assert parts_asked([*texts.values()]) == set(MEMBERS)


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("part", MEMBERS)
def test_each_product_has_every_part(product: str, part: str) -> None:
    module = importlib.import_module(f"dpress.kinds.statistics.{product}.{part}")
    assert [name for name in MEMBERS[part] if not hasattr(module, name)] == []
