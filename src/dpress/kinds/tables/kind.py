"""Which releases are tables of counts, and what a specification may set of them."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from dpress.core.basics.kind import Division, Kind, Wished, WishField
from dpress.core.basics.parameters import Parameters


class Tables(Parameters, frozen=True):
    """Which tables are published."""

    tables: (
        Annotated[
            list[Annotated[list[str], Meta(min_length=1)]],
            Meta(
                min_length=1,
                title="a list of at least one list of attribute names",
                description="the tables; each a different set of attributes",
            ),
        ]
        | None
    ) = None
    ways: (
        Annotated[int, Meta(ge=1, description="instead of `tables`: all sets of that many attributes; 2 unless stated")]
        | None
    ) = None


class OneWayTables(Division, frozen=True):
    """One table for each attribute."""

    ways: Annotated[int, Meta(ge=1, description="1, or left out: there is one table for each attribute")] = 1


def _with_time(given: Mapping[str, Any], names: Sequence[str], dated: str) -> dict[str, Any]:
    """Return the parameters of marginal tables of one period: every table with the one cell of time beside."""
    others = [name for name in names if name != dated]
    ways = min(given.get("ways", 2), len(others))
    tables = given.get("tables", list(itertools.combinations(others, ways)))
    kept = {name: value for name, value in given.items() if name != "ways"}
    return kept | {"tables": [[*(name for name in table if name != dated), dated] for table in tables]}


KIND = Kind(
    name="tables",
    names=("histogram", "marginals"),
    suppresses=True,
    stands_in=True,
    adjusts=("posterior",),
    in_sql=("counts", "cells"),
    by_period={"histogram": lambda given, names, dated: dict(given), "marginals": _with_time},  # noqa: ARG005
    wished=(
        Wished(
            kind="marginals",
            place=0,
            drawn=True,
            title="Tables",
            words="Counts of one attribute, or of every pair.",
            marks=((2, 30), (14, 12), (26, 22), (38, 6)),
            fields=(
                WishField(
                    name="ways",
                    label="Tables of",
                    choices=(("1", "one attribute each"), ("2", "every pair"), ("3", "every three")),
                ),
            ),
        ),
        Wished(
            kind="histogram",
            place=5,
            drawn=True,
            title="One full table",
            words="All attributes crossed.",
            marks=((2, 10), (16, 26), (30, 16)),
        ),
    ),
    parameters={
        ("marginals", "central"): Tables,
        ("histogram", "local"): OneWayTables,
        ("marginals", "local"): OneWayTables,
    },
)
