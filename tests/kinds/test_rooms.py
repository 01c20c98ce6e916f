"""The rooms of kinds: the catalogue finds them, each serves its own kinds, and what stands below names none of them."""

import re
from pathlib import Path
from typing import get_type_hints

import pytest

import dpress
from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import Spec
from dpress.query.answering import Answering
from dpress.release.plan.candidate import Choice
from dpress.release.plan.plan_text import PlanWords
from dpress.release.room import Page
from dpress.release.truth.evaluate import Comparison

REPORTING = Path(dpress.__file__).parent / "reporting"
NAMES = [
    "histogram",
    "joint",
    "marginals",
    "microdata",
    "names",
    "queries",
    "ranges",
    "regions",
    "sets",
    "spatial",
    "statistics",
    "strings",
]
NAMED = re.compile(r"histogram|marginals|spatial|microdata|\bjoint\b|quadtree|\bmaps?\b", re.IGNORECASE)


def named(text: str) -> list[str]:
    """Return the kinds that a text names; a heat map, `map(...)`, `core.maps` and a strategy's map are none."""
    return NAMED.findall(re.sub(r"heat map|\.maps?\b|\bmap\(", "", text))


def test_every_kind_of_a_specification_has_one_room() -> None:
    served = [name for kind in catalog.kinds().values() for name in kind.names]
    assert sorted(served) == NAMES
    assert [catalog.kind(name).name for name in ("histogram", "marginals", "spatial")] == [
        "tables",
        "tables",
        "spatial",
    ]


def test_an_unknown_kind_is_refused_with_those_there_are() -> None:
    with pytest.raises(NotSupported, match=r"expected one of histogram, joint, marginals, .*, got 'poem'"):
        catalog.kind("poem")


@pytest.mark.parametrize("kind", NAMES)
def test_every_room_has_a_page_and_its_template_is_packaged(kind: str) -> None:
    module = catalog.part(catalog.kind(kind).name, "page")
    assert catalog.room(catalog.kind(kind).name).page.page is module.page
    assert (REPORTING.parent / module.TEMPLATE).is_file()
    assert f"kinds/{catalog.kind(kind).name}/page.html.j2" == module.TEMPLATE


@pytest.mark.parametrize("name", catalog.kinds())
def test_every_part_of_a_room_is_there_and_its_planner_takes_a_specification(name: str) -> None:
    room = catalog.room(name)
    parts = [room.answering, room.words, room.comparison, room.page]
    assert [type(part) for part in parts] == [Answering, PlanWords, Comparison, Page]
    assert get_type_hints(catalog.part(name, "design").choose) == {"spec": Spec, "return": Choice}


def test_the_frame_of_pages_names_no_kind() -> None:
    found = {path.name: named(path.read_text("utf-8")) for path in REPORTING.iterdir() if path.suffix in (".py", ".j2")}
    assert len(found) > 20
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("text", ["<p>This map shows", 'kind == "spatial"', "The joint distribution"])
def test_a_kind_would_be_found(text: str) -> None:
    assert named(text)
