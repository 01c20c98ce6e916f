"""What the document on mixed microdata claims, and what dpress does: each with its band and a planted violation.

SSE is `aligned` where rows keep their order; a release in no order has `matched` figures only, and those are compared
with matched ones. No line about ours is one that permuted columns, which know nothing of two attributes together, pass.
"""

from collections.abc import Sequence

from claims import Claim, Quantity, Row, about, at_least, at_most, chosen, level, mean, settings, share, steps, within

PLACE = (8, 20)  # d and k of counter-examples and of lines about ours
BUDGET = "1"  # of the claims that name one
GROUPS_OF_K, SAME_NUMBER = "k clusters, groups of k", "as many groups as clusters"
STEP_BACK = 0.001  # of an SSE, which a sample of noise may add between two budgets
RESTARTED = 0.01  # of an SSE, which a random start may add between two k
FAR = 0.5  # of the SSE of noise on every record: what counts as far below
BETTER = 0.95  # of a rival's error: what counts as lower
CONTROLS = ("permuted columns", "constant record")
OURS = {"mixture": "dp_prototypes (mixture)", "representative": "dp_prototypes (representative)"}
OURS |= {one: one for one in ("graphical", "insensitive_microaggregation", "per_record")}
OWN = {"method": "dp_k_prototypes", "starts": "one clustering"}


def claims() -> list[Claim]:
    """Return every claim, the document's first."""
    return [
        *_shapes(),
        *_rivals(),
        *_linkage(),
        *_promise(),
        _not_stated(),
        *_against_controls(),
        *_against_published(),
        *_shown(),
    ]


def _document(key: str, place: str, words: str, **more: object) -> Claim:
    return Claim(key=key, whose="document", place=place, words=words, data=("adult",), **more)  # type: ignore[arg-type]


def _ours(key: str, words: str, **more: object) -> Claim:
    return Claim(key=key, whose="dpress", place="dpress", words=words, data=("adult",), **more)  # type: ignore[arg-type]


def _shapes() -> list[Claim]:
    """How SSE goes with epsilon, k and d."""
    every, no_trend = at_least(1), 0.5
    falls = steps(
        "share of steps in which SSE falls (by at least -0.1 %), each run a line",
        "aligned",
        "epsilon",
        sign=-1,
        by=("d", "k", "run"),
        tolerance=STEP_BACK,
        method="dp_k_prototypes",
        d=(4, 8),
        k=(3, 20, 100),
    )
    with_k = steps(
        "share of steps in which SSE falls (by at least -1 %)",
        "aligned",
        "k",
        sign=-1,
        by=("d",),
        tolerance=RESTARTED,
        **OWN,
        d=(4, 8),
    )
    with_d = steps(
        "share of steps in which SSE rises (by at least -1 %)",
        "aligned",
        "d",
        sign=1,
        by=("epsilon",),
        tolerance=RESTARTED,
        **OWN,
        k=(4, 20, 40),
    )
    return [
        _document(
            "sse_by_epsilon",
            "Figure: SSE by epsilon",
            "SSE falls as epsilon grows",
            quantity=falls,
            band=every,
            violation=no_trend,
            axis="starts",
            note="the document does not say whether each epsilon is clustered anew",
        ),
        _document(
            "sse_by_k",
            "Figure: SSE by k",
            "SSE falls as k grows, for 4 and 8 attributes",
            quantity=with_k,
            band=every,
            violation=no_trend,
            axis="epsilon",
        ),
        _document(
            "sse_by_d",
            "Figure: SSE by d",
            "SSE rises with the number of attributes, for k = 4, 20 and 40",
            quantity=with_d,
            band=every,
            violation=no_trend,
            axis="k",
        ),
    ]


def _rivals() -> list[Claim]:
    """MDAV, and noise on every record."""
    found = []
    for d in (4, 8):
        below = share(
            "share of k for which the aligned SSE of DP-k-prototypes is below MDAV's",
            lambda sse: sse["dp_k_prototypes"] < sse["mdav"],
            "aligned",
            by=("d", "k"),
            yes={"dp_k_prototypes": 1.0, "mdav": 2.0},
            no={"dp_k_prototypes": 2.0, "mdav": 1.0},
            table="rivals",
            d=d,
            epsilon=BUDGET,
        )
        found.append(
            _document(
                f"below_mdav_{d}",
                "Figure: SSE by k",
                f"{d} attributes, epsilon = 1: DP-k-prototypes has lower SSE than MDAV for every k",
                quantity=below,
                band=at_least(1),
                violation=0.5,
                axis="compared",
            )
        )
    for method in ("dp_k_prototypes", "mdav"):
        found.append(
            _document(
                f"far_below_{method}",
                "Figure: SSE by d",
                f"epsilon = 1: {method} is far below noise on every record (at most {FAR:g} times is our reading)",
                quantity=_most_times(method, "per_value", "aligned"),
                band=at_most(FAR),
                violation=1,
            )
        )
    return found


def _linkage() -> list[Claim]:
    """Record linkage."""
    return [
        _document(
            "linkage_low",
            "Figure: RL by k",
            "RL of DP-k-prototypes stays near 0.002 % for epsilon <= 1",
            quantity=level("RL in per cent", "linkage", **OWN, d=(4, 8), epsilon=("0.01", "0.1", "1")),
            band=about(0.002),
            violation=0.01,
            axis="epsilon",
            note="a guess among 30,162 rows links 0.0033 %",
        ),
        _document(
            "linkage_rises",
            "Figure: RL by k",
            "RL of DP-k-prototypes rises at epsilon = 10 (by at least a tenth is our reading)",
            quantity=_times("linkage", "epsilon", "10", "1", **OWN, d=(4, 8)),
            band=at_least(1.1),
            violation=1,
        ),
    ]


def _promise() -> list[Claim]:
    """What the promise rests on; each has a counter-example."""
    return [
        _document(
            "parallel_clusters",
            "Proof: parallel composition over clusters",
            "clusters are disjoint data: one replaced record changes no other record's cluster",
            quantity=level("share of replaced records that move others", "moved_others", table="replaced"),
            band=at_most(0),
            violation=1,
        ),
        _document(
            "sensitivity",
            "Method: noise of a number",
            "one replaced record moves a cluster's mean by at most range / size of the cluster",
            quantity=level("share of replaced records that move a mean by more", "beyond", table="replaced"),
            band=at_most(0),
            violation=1,
        ),
        _document(
            "noise_of_a_mean",
            "Method: noise of a number",
            "noise of scale (range / size) / epsilon hides a cluster's mean",
            quantity=level(
                "error of the mean of a cluster's records, over the deviation of that noise", "left", table="averaged"
            ),
            band=at_least(0.75),
            violation=0.25,
            note="epsilon = 0.01, where the noise is largest",
        ),
    ]


def _not_stated() -> Claim:
    return _document(
        "figures_themselves",
        "Figures: the values of SSE",
        "SSE has the values that the figures print",
        quantity=level("SSE", "aligned", **OWN),
        band=at_least(0),
        violation=-1,
        blocked="neither the number of random starts nor how influence makes weights is stated, and SSE depends on both",
    )


def _against_controls() -> list[Claim]:
    """Ours against the better of permuted columns and one constant record, under one measure at a time."""
    found = []
    for method in ("mixture", "graphical", "representative"):
        for column, words in (("two_way", "tables of two attributes"), ("matched", "SSE of matched rows")):
            found.append(
                _ours(
                    f"{column}_{method}",
                    f"8 attributes: {OURS[method]} beats permuted columns and a constant record in {words}",
                    quantity=_over_best(method, CONTROLS, column),
                    band=at_most(BETTER),
                    violation=1,
                    axis="epsilon",
                )
            )
    for method in ("insensitive_microaggregation", "per_record"):
        found.append(
            _ours(
                f"aligned_{method}",
                f"8 attributes: {method} beats permuted columns and a constant record in SSE of aligned rows",
                quantity=_over_best(method, CONTROLS, "aligned"),
                band=at_most(BETTER),
                violation=1,
                axis="epsilon",
            )
        )
    return found


def _against_published() -> list[Claim]:
    """Ours against the published release, which nothing protects, under one measure at a time."""
    published = "dp_k_prototypes (k = 20, not proven)"
    return [
        _ours(
            f"{column}_{method}_published",
            f"8 attributes: {OURS[method]} has lower error than {published} in {words}",
            quantity=_over_best(method, ("dp_k_prototypes", "permuted columns"), column),
            band=at_most(BETTER),
            violation=1,
            axis="epsilon",
        )
        for method, column, words in (
            ("mixture", "two_way", "tables of two attributes, and than permuted columns"),
            ("graphical", "two_way", "tables of two attributes, and than permuted columns"),
            ("mixture", "matched", "SSE of matched rows, and than permuted columns"),
            ("representative", "matched", "SSE of matched rows, and than permuted columns"),
        )
    ]


def _shown() -> list[Claim]:
    """How large the faults of the published release are."""
    d, k = PLACE
    where = f"{d} attributes, k = {k}"
    return [
        _ours(
            "no_noise",
            f"{where}, epsilon = 0.5: the noise of the published release does not show in SSE, to three digits",
            quantity=_times("aligned", "method", "noise", "no noise", table="noise"),
            band=within(1, 0.005),
            violation=1.05,
        ),
        _ours(
            "median_moved",
            f"{where}: a replaced record moves other records between the published clusters, in the median",
            quantity=level(
                "median of the other records that are moved", "value", table="largest", what="median of others"
            ),
            band=at_least(1),
            violation=0,
        ),
        _ours(
            "most_moved",
            f"{where}: some replaced record moves ten other records or more",
            quantity=level("the most other records that one moves", "value", table="largest", what="most others"),
            band=at_least(10),
            violation=1,
        ),
        _ours(
            "times_moved",
            f"{where}: some replaced record moves a mean by more than twice the claimed sensitivity",
            quantity=level("largest move over the claimed sensitivity", "value", table="largest", what="times"),
            band=at_least(2),
            violation=1,
        ),
    ]


def _times(column: str, name: str, of: str, to: str, *, table: str = "errors", **where: object) -> Quantity:
    """Return the mean of a column at one value of an axis over that at another."""
    return Quantity(
        words=f"{column} at {name} = {of} over that at {to}"
        if name != "method"
        else f"SSE with {of} over that with {to}",
        table=table,
        where={**where, name: (of, to)},
        of=lambda rows: mean(chosen(rows, {name: of}), column) / mean(chosen(rows, {name: to}), column),
        example=lambda value: [{name: of, column: value}, {name: to, column: 1.0}],
    )


def _most_times(of: str, to: str, column: str) -> Quantity:
    """Return the largest ratio over all d and k of one method to another that has no k."""

    def largest(rows: Sequence[Row]) -> float:
        found = []
        for (d,), own in settings(rows, ("d",)).items():
            below = chosen(own, {"method": to})
            for (k,), same in settings(chosen(own, {"method": of}), ("k",)).items():
                del d, k
                found.append(mean(same, column) / mean(below, column))
        return max(found)

    return Quantity(
        words=f"largest {column} SSE of {of} over that of {to}, over all d and k",
        table="errors",
        where={"epsilon": BUDGET, "method": (of, to)},
        of=largest,
        example=lambda value: [
            {"method": of, "d": 8, "k": 20, column: value},
            {"method": to, "d": 8, "k": 0, column: 1.0},
        ],
    )


def _over_best(of: str, rivals: tuple[str, ...], column: str) -> Quantity:
    """Return a column of one method over the least of its rivals', at d = 8 and what k ours chooses."""

    def over(rows: Sequence[Row]) -> float:
        own = [row for row in rows if row["method"] == of and row["k"] == _k(rows, of)]
        least = min(mean(_published(rows, one), column) for one in rivals)
        return mean(own, column) / least

    return Quantity(
        words=f"{column} of {of} over the least of {', '.join(rivals)}",
        table="errors",
        where={"d": PLACE[0], "method": (of, *rivals)},
        of=over,
        example=lambda value: [
            {"method": of, "k": 0, column: value},
            *({"method": one, "k": PLACE[1], "starts": OWN["starts"], column: 1.0 + place}
              for place, one in enumerate(rivals)),
        ],
    )  # fmt: skip


def _k(rows: Sequence[Row], of: str) -> int:
    """Return the largest group of a method that has groups, and what the plan chooses, 0, of one that has none."""
    sizes = {row["k"] for row in rows if row["method"] == of}
    return 0 if 0 in sizes else max(sizes, default=0)


def _published(rows: Sequence[Row], name: str) -> list[Row]:
    """Return the rows of a rival: of the published release those of one clustering at k = 20."""
    own = chosen(rows, {"method": name})
    return chosen(own, {"starts": OWN["starts"], "k": PLACE[1]}) if name == OWN["method"] else own
