"""Which releases are statistics of groups, and what a specification may set of them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from dpress.core.basics.kind import Kind, Participants, Reporters, Wished, WishField

Names = Annotated[list[str], Meta(min_length=1, title="a list of at least one name of an attribute")]


class Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody supposes of an attribute's values: mean and standard deviation, public."""

    mean: float
    sd: Annotated[float, Meta(gt=0)]


By = Annotated[
    list[str],
    Meta(
        title="a list of names of attributes",
        description="the groups: every combination of their cells; one group of all rows unless stated",
    ),
]
Mean = Annotated[Names, Meta(description="integer or numeric attributes; their sums follow")]
Sum = Annotated[Names, Meta(description="the same: a mean and a sum are one measurement")]
Variance = Annotated[Names, Meta(description="integer or numeric attributes; mean and sum follow")]
Median = Annotated[Names, Meta(description="integer or numeric attributes, to within one of their cells")]
Quantiles = Annotated[
    dict[str, list[Fraction]],
    Meta(
        title="a table of lists of numbers between 0 and 1, by attribute",
        description="to within one of the attribute's cells, as { cost = [0.1, 0.9] }",
    ),
]
Assume = Annotated[
    dict[str, Shape],
    Meta(
        title="a table of mean and sd, by attribute",
        description="a public guess of the values in a group, as { cost = { mean = 300, sd = 200 } }: only the "
        "predicted errors, the shares of the budget and the way that devices report rest on it; evenly spread unless "
        "stated",
    ),
]
Share = Annotated[
    list[str],
    Meta(
        min_length=1,
        title="a list of at least one condition",
        description='conditions on attributes that are not in `by`, as "sex = f"; the share of each group\'s '
        'rows that they hold for; "status = unemployed where status in (employed, unemployed)": of the rows there',
    ),
]
Totals = Annotated[
    dict[str, Annotated[list[Fraction], Meta(min_length=2, max_length=2)]],
    Meta(
        title="a table of two numbers, by attribute",
        description="bounds that each person's total within a group is clipped to, as { cost = [0, 50000] }: "
        "the sum of the totals, and the total per person; needs a unit that names persons",
    ),
]
Distinct = Annotated[
    Names,
    Meta(
        description="attributes that nothing else is about, whose different values are counted: how many occur in each "
        "group, and over all; `null`, `other` and what is dropped are no values"
    ),
]
Relations = Annotated[
    list[str],
    Meta(
        min_length=1,
        title="a list of at least one relation",
        description='regressions, covariances and correlations, as "cost ~ age + sex", "cost ~ age * sex", '
        '"correlation age cost"; counts, means and variances of their numbers follow, and nothing else stands beside',
    ),
]
Unit = Annotated[
    dict[str, Fraction],
    Meta(
        title="a table of numbers > 0, by attribute",
        description="a numeric attribute's values are rounded to the multiples of it from the lower bound on, "
        "as { cost = 0.01 }, and added up without further error; it divides the width of the bounds",
    ),
]
Weight = Annotated[
    str,
    Meta(
        title="the name of an attribute",
        description="a sampling weight: integer or numeric with bounds of at least 0, or a list of numbers; sums, "
        "means, variances, shares and quantiles are of rows times it, and the sum of the weights follows",
    ),
]
Replicates = Annotated[
    list[str],
    Meta(
        min_length=2,
        max_length=200,
        title="a list of 2 to 200 columns",
        description="the columns of replicate weights, no attributes: the error of sampling of sums, means and "
        "shares follows, beside that of the noise; variances are measured for it, too",
    ),
]
Method = Annotated[
    Literal["jackknife", "brr", "successive differences"],
    Meta(description="how the replicate weights were made: the variance's factor and the bounds of weights follow"),
]
Fay = Annotated[
    float,
    Meta(
        ge=0,
        lt=1,
        title="a number >= 0 and < 1",
        description='of replicate_method = "brr": half-samples have fay and 2 - fay times their weights',
    ),
]
Scale = Annotated[
    float,
    Meta(gt=0, description="c in the variance c sum (theta_r - theta)^2, where it is not that of the method"),
]
PrivateBounds = Annotated[
    Names,
    Meta(
        description="numeric attributes whose values are clamped to bounds that are chosen privately, for a "
        "third of the budget, between their `bounds`, which may be wide; a few rows lie outside, and every "
        "answer says how many at most"
    ),
]
Precision = Annotated[
    dict[str, Annotated[float, Meta(gt=0)]],
    Meta(
        title="a table of numbers > 0, by statistic",
        description='the standard error that a statistic is to have, as { "mean income" = 200 }, in a group of '
        "`users` divided by the number of groups; where every statistic has one, no more is spent",
    ),
]


class Statistics(Participants, frozen=True):
    """Which statistics of which groups."""

    by: By | None = None
    mean: Mean | None = None
    sum: Sum | None = None
    variance: Variance | None = None
    median: Median | None = None
    quantiles: Quantiles | None = None
    intervals: Annotated[
        bool,
        Meta(
            description="false: quantiles may be published without intervals, at the stated numbers and of one group "
            "each, where that is predicted to err less; the plan says which"
        ),
    ] = True
    share: Share | None = None
    persons: Annotated[bool, Meta(description="the number of distinct persons; needs a unit that names them")] = False
    totals: Totals | None = None
    distinct: Distinct | None = None
    relations: Relations | None = None
    weight: Weight | None = None
    replicates: Replicates | None = None
    replicate_method: Method | None = None
    fay: Fay = 0.0
    replicate_scale: Scale | None = None
    unit: Unit | None = None
    private_bounds: PrivateBounds | None = None
    assume: Assume | None = None
    precision: Precision | None = None


class CollectedStatistics(Reporters, frozen=True):
    """Which statistics of the devices' owners."""

    by: By | None = None
    mean: Mean | None = None
    sum: Sum | None = None
    variance: Variance | None = None
    median: Median | None = None
    quantiles: Quantiles | None = None
    circular: (
        Annotated[
            Names,
            Meta(
                description="integer or numeric attributes whose bounds meet, as hours of a day; their circular mean, "
                "resultant length and distribution, and no others beside them"
            ),
        ]
        | None
    ) = None
    assume: Assume | None = None


def _with_time(given: Mapping[str, Any], names: Sequence[str], dated: str) -> dict[str, Any]:
    """Return the parameters of one period's statistics: the one cell of time is a group."""
    del names
    return dict(given) | {"by": [*dict.fromkeys([*given.get("by", ()), dated])]}


KIND = Kind(
    name="statistics",
    names=("statistics",),
    suppresses=True,
    smaller="use fewer groups, fewer levels or fewer measured attributes",
    by_period={"statistics": _with_time},
    of_counts=False,
    in_sql=("sums",),
    discovers=True,
    findings={"names": None, "totals": (), "bounds": (), "replicates": None},
    wished=(
        Wished(
            kind="statistics",
            place=2,
            title="Means and medians",
            words="By group, with their errors.",
            marks=((2, 18), (20, 14), (38, 22)),
            fields=(
                WishField(name="by", label="In groups by"),
                WishField(name="mean", label="Means of"),
                WishField(name="median", label="Medians of"),
            ),
            of_attributes=False,
            users=True,
        ),
    ),
    parameters={("statistics", "central"): Statistics, ("statistics", "local"): CollectedStatistics},
)
