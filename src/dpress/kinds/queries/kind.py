"""Which releases are answers to a list of predicates, and what a specification may set of them."""

from typing import Annotated

from msgspec import Meta

from dpress.core.basics.kind import Kind, Wished
from dpress.core.basics.parameters import Parameters
from dpress.core.maps.set_sums import MOST_SETS


class Queries(Parameters, frozen=True):
    """Which predicates are answered."""

    queries: (
        Annotated[
            list[str],
            Meta(
                min_length=1,
                max_length=MOST_SETS - 1,
                title=f"a list of 1 to {MOST_SETS - 1} queries",
                description="the predicates; conditions joined by `and`, `or`, `not` and parentheses; needed",
            ),
        ]
        | None
    ) = None


KIND = Kind(
    name="queries",
    names=("queries",),
    suppresses=True,
    smaller="list fewer `queries`, or use fewer cells by `bins`",
    in_sql=("counts",),
    wished=(
        Wished(
            kind="queries",
            place=8,
            title="My own questions",
            words="A list of counting queries.",
            marks=((2, 12), (2, 26)),
            mark="line",
            lines=True,
        ),
    ),
    parameters={("queries", "central"): Queries},
)
