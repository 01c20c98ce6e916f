"""The name of a collection is that of what its devices do: it changes with all of that, and with nothing else."""

import copy
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from dpress import load_spec, plan
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import from_dict
from dpress.document import design as documents
from dpress.document.design import Design, LocalAsk, canonical, collection_id, identity, report_id

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9], "bins": 5, "outside": "clamp"}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M", "X"], "other": "elsewhere", "null": "missing"}
SIZE = {"name": "size", "kind": "numeric", "bounds": [0.0, 8.0], "bins": 4, "null": "none"}
TABLES = {
    "attribute": [AGE, SEX, SIZE],
    "privacy": {"model": "local", "epsilon": 1},
    "release": {"kind": "marginals", "method": "krr", "parameters": {"split": "users", "users": 1000}},
}
PLACE = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 8], [0, 4]], "outside": "clamp"}
MAP = {
    "attribute": [PLACE],
    "privacy": {"model": "local", "epsilon": 1},
    "release": {"kind": "spatial", "method": "gtr", "parameters": {"height": 2, "users": 1000}},
}
LEFT_OUT = object()


def changed(own: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """The specification with one field set, or left out; the path is written with dots."""
    made = copy.deepcopy(own)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = made
    for step in steps:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    if value is LEFT_OUT:
        del place[last]
    else:
        place[last] = value
    return made


def design(own: dict[str, Any]) -> Design:
    return plan(from_dict(own)).design


NAME = {"tables": design(TABLES).id, "map": design(MAP).id}

DEVICES_DO_SOMETHING_ELSE = [
    ("attribute.0.name", "years"),
    ("attribute.0.bounds", [0, 14]),
    ("attribute.0.bounds", [10, 19]),
    ("attribute.0.bins", 2),
    ("attribute.0.bins", LEFT_OUT),
    ("attribute.0.outside", "reject"),
    ("attribute.0.null", "missing"),
    ("attribute.0.kind", "numeric"),
    ("attribute.1.name", "gender"),
    ("attribute.1.values", ["F", "M"]),
    ("attribute.1.values", ["F", "M", "Y"]),
    ("attribute.1.values", ["M", "F", "X"]),
    ("attribute.1.values", [1, 2, 3]),
    ("attribute.1.other", "reject"),
    ("attribute.1.other", LEFT_OUT),
    ("attribute.1.null", "reject"),
    ("attribute.1.null", LEFT_OUT),
    ("attribute.1.null", "elsewhere"),
    ("attribute.2.name", "length"),
    ("attribute.2.bounds", [0.0, 8.5]),
    ("attribute.2.bins", 5),
    ("attribute.2.null", "reject"),
    ("attribute.2.outside", "reject"),
    ("attribute", [SEX, AGE, SIZE]),
    ("attribute", [AGE, SEX]),
    ("privacy.epsilon", 1.05),
    ("release.attributes", ["age", "sex"]),
    ("release.attributes", ["size", "sex", "age"]),
    ("release.method", "oue"),
    ("release.method", "rr_ldp"),
    ("release.parameters.split", "budget"),
    ("release", {"kind": "joint", "method": "pairs"}),
]
DEVICES_DO_THE_SAME = [
    ("attribute.1.other", "rest"),
    ("attribute.1.other", "other"),
    ("attribute.1.other", "null"),
    ("attribute.1.null", "unknown"),
    ("attribute.1.null", "other"),
    ("attribute.2.null", "missing"),
    ("attribute.2.null", "null"),
    ("attribute.0.outside", LEFT_OUT),
    ("attribute.0.null", "reject"),
    ("attribute.2.bounds", [0, 8]),
    ("privacy.epsilon", 1.0),
    ("privacy.relation", "replace-one"),
    ("release.attributes", ["age", "sex", "size"]),
    ("release.parameters.users", 5000),
    ("release.parameters.users", LEFT_OUT),
    ("release.parameters.round", 7),
    ("release.postprocess", ["nonnegative"]),
    ("release.postprocess", ["norm_sub", "integer"]),
    ("release.hide", ["cv > 0.3"]),
    ("release.round", 5),
    ("data.source", "people.csv"),
    ("attribute.0.column", "AGE_YEARS"),
    ("attribute.0.title", "Age at the last birthday"),
    ("attribute.0.unit", "years"),
    ("attribute.1.title", "Sex"),
    ("attribute.1.labels", {"F": "female", "M": "male"}),
    ("attribute.2.unit", "m"),
    ("release.title", "Who lives here"),
    ("release.source", "A survey"),
    ("release.contact", "statistics@example.org"),
    ("release.license", "CC-BY-4.0"),
    ("release.language", "de"),
]
MAP_ELSE = [
    ("attribute.0.columns", ["lon", "lat"]),
    ("attribute.0.columns", ["y", "x"]),
    ("attribute.0.bounds", [[0, 8], [0, 5]]),
    ("attribute.0.outside", "reject"),
    ("privacy.epsilon", 1.05),
    ("release.method", "gtr_top_down"),
    ("release.method", "dam"),
    ("release.parameters.height", 3),
]
MAP_SAME = [
    ("attribute.0.name", "somewhere"),
    ("attribute.0.bounds", [[0.0, 8.0], [0.0, 4.0]]),
    ("release.parameters.area", [0.1, 0.5]),
    ("release.parameters.users", 5000),
    ("release.parameters.round", 3),
    ("data.source", "places.parquet"),
    ("attribute.0.title", "Home"),
    ("attribute.0.unit", "km"),
]


def cases(*groups: tuple[dict[str, Any], list[tuple[str, object]]]) -> Any:
    found = [(own, path, value) for own, changes in groups for path, value in changes]
    ids = [f"{path}-{'left out' if value is LEFT_OUT else value}" for _, path, value in found]
    return pytest.mark.parametrize(("own", "path", "value"), found, ids=ids)


@cases((TABLES, DEVICES_DO_SOMETHING_ELSE), (MAP, MAP_ELSE))
def test_another_thing_to_do_has_another_name(own: dict[str, Any], path: str, value: object) -> None:
    assert design(changed(own, path, value)).id not in NAME.values()


@cases((TABLES, DEVICES_DO_THE_SAME), (MAP, MAP_SAME))
def test_the_same_thing_to_do_has_the_same_name(own: dict[str, Any], path: str, value: object) -> None:
    made, first = changed(own, path, value), design(own)
    assert repr(made) != repr(own)
    assert design(made).id == first.id
    assert canonical(design(made).ask) == canonical(first.ask)


def test_all_fields_of_the_specifications_are_varied() -> None:
    """A field that a later version adds must be put on one side or the other."""
    paths = [path for path, _ in (*DEVICES_DO_SOMETHING_ELSE, *DEVICES_DO_THE_SAME, *MAP_ELSE, *MAP_SAME)]
    varied, of_attributes = (
        {path.rpartition(".")[2] for path in paths if path.startswith("attribute") == own} for own in (False, True)
    )
    kinds = [Categorical, *map(type, from_dict(TABLES).schema.attributes), type(from_dict(MAP).schema.attributes[0])]
    fields = {name for kind in kinds for name in msgspec.structs.fields(kind) for name in [name.encode_name]}
    assert fields - of_attributes == {"edges", "hierarchy"}  # below
    known = msgspec.structs.fields(type(from_dict(TABLES).privacy)) + msgspec.structs.fields(
        type(from_dict(TABLES).release)
    )
    rest = {one.encode_name for one in known} - varied
    assert rest == {
        "kind",
        "model",
        "unit",
        "rows_per_unit",
        "rho",
        "delta",
        "level",
        "parameters",
    }  # none of them is for devices


def test_edges_are_what_a_device_does_and_a_hierarchy_is_not(tmp_path: Path) -> None:
    edges = {"name": "size", "kind": "numeric", "edges": [0.0, 2.0, 4.0, 8.0], "null": "none"}
    one = design(changed(TABLES, "attribute.2", edges))
    other = design(changed(TABLES, "attribute.2", edges | {"edges": [0.0, 2.0, 5.0, 8.0]}))
    assert len({one.id, other.id, *NAME.values()}) == 4
    (tmp_path / "groups.csv").write_text("F,any\nM,any\nX,none\n", encoding="utf-8")
    grouped = changed(TABLES, "attribute.1.hierarchy", str(tmp_path / "groups.csv"))
    made = design(grouped)
    assert made.id == NAME["tables"]


TOML = """
[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
other = "elsewhere"

[privacy]
model = "local"
epsilon = 1

[release]
kind = "histogram"
method = "krr"
"""


def test_the_order_of_keys_and_tables_is_not_what_a_device_does(tmp_path: Path) -> None:
    blocks = TOML.strip().split("\n\n")
    lines = [block.splitlines() for block in reversed(blocks)]
    shuffled = "\n\n".join("\n".join([head, *reversed(rest)]) for head, *rest in lines) + "\n# a comment\n"
    assert tomllib.loads(shuffled) == tomllib.loads(TOML)
    names = []
    for number, text in enumerate((TOML, shuffled)):
        (tmp_path / f"{number}.toml").write_text(text, encoding="utf-8")
        names.append(plan(load_spec(tmp_path / f"{number}.toml")).design.id)
    assert names[0] == names[1]


@pytest.mark.parametrize(("method", "path", "value"), [
    ("rr_ldp", "release.parameters.f", 0.5),
    ("rr_ldp", "release.parameters.q", 0.8),
    ("rappor", "release.parameters.bits", 64),
    ("rappor", "release.parameters.hashes", 3),
    ("rappor", "release.parameters.cohorts", 8),
    ("rappor", "attribute.1.other", "rest"),  # its name is hashed into the filter
    ("pcep", "release.parameters.rows", 48),
])  # fmt: skip
def test_a_method_s_own_numbers_are_what_a_device_does(method: str, path: str, value: object) -> None:
    own = changed(changed(TABLES, "release.method", method), "privacy.epsilon", 8)
    assert design(changed(own, path, value)).id != design(own).id


def test_everything_in_the_ask_is_in_its_name() -> None:
    """Also what no specification sets: weights, encoders, rounds."""
    ask = design(MAP).ask
    assert isinstance(ask, LocalAsk)
    first, *others = ask.report_types
    rounds = documents.Rounds(number=0, types=(3,), collection="")
    replaced = [
        msgspec.structs.replace(ask, report_types=(msgspec.structs.replace(first, weight=2), *others)),
        msgspec.structs.replace(ask, report_types=(msgspec.structs.replace(first, width=9), *others)),
        msgspec.structs.replace(ask, report_types=(*others, first)),
        msgspec.structs.replace(ask, report_types=tuple(others)),
        msgspec.structs.replace(ask, attributes=ask.attributes[::-1]),
        msgspec.structs.replace(ask, rounds=rounds),
        msgspec.structs.replace(ask, rounds=msgspec.structs.replace(rounds, types=(1, 2))),
        msgspec.structs.replace(ask, rounds=msgspec.structs.replace(rounds, number=1, collection="00" * 32)),
    ]
    (part,) = first.parts
    for own in (
        msgspec.structs.replace(part, axes=(1, 0)),
        msgspec.structs.replace(part, encoder=msgspec.structs.replace(part.encoder, shift=2)),  # type: ignore[type-var]
        msgspec.structs.replace(part, oracle=part.oracle | {"p": "1/3"}),
    ):
        types = (msgspec.structs.replace(first, parts=(own,)), *others)
        replaced.append(msgspec.structs.replace(ask, report_types=types))
    assert len({identity(one) for one in (ask, *replaced)}) == 1 + len(replaced)


def test_later_rounds_have_names_of_their_own_and_the_coins_of_the_first() -> None:
    ask = design(changed(MAP, "release.method", "ahead")).ask
    assert isinstance(ask, LocalAsk)
    assert ask.rounds is not None
    later = msgspec.structs.replace(ask, rounds=msgspec.structs.replace(ask.rounds, number=1, collection=identity(ask)))
    assert report_id(later) != report_id(ask)
    assert collection_id(later) == collection_id(ask) == report_id(ask)
    assert len(report_id(ask)) == 16


@pytest.mark.parametrize("other", ["elsewhere", "other", "null", "other_"])
@pytest.mark.parametrize("null", [None, "missing", "null", "other", "null_"])
@pytest.mark.parametrize("values", [("a", "b"), ("other", "null"), ("other", "other_", "null"), ("null_", "x")])
def test_cells_without_a_name_are_never_mistaken_for_a_value(
    values: tuple[str, ...], null: str | None, other: str
) -> None:
    if {other, null} & set(values):
        return
    own = Categorical(name="v", values=values, other=other, null=null)
    coded = own.plain
    assert coded.size == own.size
    assert coded.labels[: len(values)] == own.labels[: len(values)]
    assert coded.plain == coded
    same = Categorical(name="v", values=values, other="e", null=null and ("e" if null == other else "m"))
    assert coded == same.plain


def test_a_missing_value_that_is_an_other_is_the_same_said_or_not() -> None:
    for policy in ("elsewhere", "reject", "drop"):
        said, not_said = (Categorical(name="v", values=("a",), other=policy, null=null) for null in (policy, None))
        assert said.plain == not_said.plain


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_never_written(value: float) -> None:
    ask = design(TABLES).ask
    size = msgspec.structs.replace(ask.attributes[2])
    msgspec.structs.force_setattr(size, "bounds", (0.0, value))  # no attribute lets it through
    with pytest.raises(ValueError, match="numbers in a design must be finite"):
        canonical(msgspec.structs.replace(ask, attributes=(*ask.attributes[:2], size)))


@pytest.mark.parametrize("number", [0.1, 1e-300, 1e22, 123456789.125, -0.0, 5e-324])
def test_numbers_are_written_as_the_shortest_text_that_reads_back(number: float) -> None:
    own = changed(TABLES, "attribute.2.bounds", [min(number, 0) - 1.0, max(abs(number), 2.0) + number])
    made = design(own)
    again = documents.decode(documents.encode(made))
    assert again.ask == made.ask
    assert [float(one) for one in documents.as_plain(made)["ask"]["attributes"][2]["bounds"]] == list(
        again.ask.attributes[2].bounds
    )  # type: ignore[union-attr,arg-type]
    assert np.isfinite(again.ask.attributes[2].bounds).all()  # type: ignore[union-attr,arg-type]


def test_attributes_that_are_not_those_of_the_ask_are_refused() -> None:
    made = documents.as_plain(design(TABLES))
    made["attributes"][0]["bounds"] = [0, 19]
    with pytest.raises(SchemaMismatch, match="the design's attributes are not those of its `ask`"):
        documents.from_plain(made)
