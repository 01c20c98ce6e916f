"""What the document on mixed microdata claims, and what dpress does: each with its band and a planted violation.

SSE is `aligned` where rows keep their order; a release in no order has `matched` figures only, and those are compared
with matched ones. No line about ours is one that permuted columns, which know nothing of two attributes together, pass.
"""

from claims import Claim, about, at_least, at_most, within
from microdata_quantities import BUDGET, PLACE, most_times, over_best, over_k, times
from quantities import level, share, steps

SMALL = ("0.01", "0.1", "1")  # those of which the document sees no change of RL
STEP_BACK = 0.001  # of an SSE, which a sample of noise may add between two budgets
RESTARTED = 0.01  # of an SSE, which a random start may add between two k
FAR = 0.5  # of the SSE of noise on every record: what counts as far below
THIRD = 0.33  # of the larger of two RL: a change by half
LOWER = -0.1  # part of the larger of two errors: what counts as lower
ROUNDING = 1e-9
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
        k=(3, 20),
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
    found += [
        _document(
            f"far_below_{method}",
            "Figure: SSE by d",
            f"epsilon = 1: {method} is far below noise on every record (at most {FAR:g} times is our reading)",
            quantity=most_times(method, "per_value", "aligned"),
            band=at_most(FAR),
            violation=1,
        )
        for method in ("dp_k_prototypes", "mdav")
    ]
    return found


def _linkage() -> list[Claim]:
    """Record linkage over k, which the document has for 8 attributes alone."""
    own = {**OWN, "d": PLACE[0], "run": (0, 1, 2)}
    return [
        _document(
            "linkage_low",
            "Figure: RL by k",
            "8 attributes: RL is about 0.002 % for epsilon <= 1",
            quantity=level("RL in per cent", "linkage", **own, epsilon=SMALL),
            band=about(0.002),
            violation=0.1,
            axis="epsilon",
            note="a guess among 30,162 rows links 0.0033 %, and k clusters without noise about k times that",
        ),
        _document(
            "linkage_level_in_k",
            "Figure: RL by k",
            "8 attributes: RL hardly changes with k for epsilon <= 1 (by at most half is our reading)",
            quantity=over_k("linkage", "RL", **own, epsilon=SMALL),
            band=within(0, THIRD),
            violation=(-0.75, 0.75),
            axis="epsilon",
        ),
        _document(
            "linkage_rises_with_k",
            "Figure: RL by k",
            "8 attributes: RL rises with k at epsilon = 10 (by at least half is our reading)",
            quantity=over_k("linkage", "RL", **own, epsilon="10"),
            band=at_least(THIRD),
            violation=0,
        ),
    ]


def _promise() -> list[Claim]:
    """What the promise rests on; each has a counter-example."""
    return [
        _document(
            "parallel_clusters",
            "Proof: parallel composition over clusters",
            "clusters are disjoint data: one replaced record changes no other record's cluster",
            quantity=level("the most others that one of 40 moves", "others", table="largest"),
            band=at_most(0),
            violation=1,
            axis="clusters",
            note="one counter-example is enough",
        ),
        _document(
            "sensitivity",
            "Method: noise of a number",
            "one replaced record moves a cluster's mean by at most range / size of the cluster",
            quantity=level("the largest move by one of 40, in claimed sensitivities", "times", table="largest"),
            band=at_most(1 + ROUNDING),
            violation=1.5,
            axis="clusters",
            note="one counter-example is enough",
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
        _document(
            "parallel_attributes",
            "Proof: parallel composition over attributes",
            "a record whose 8 values get epsilon each is protected with epsilon",
            quantity=level("exact loss of one record, over epsilon", "value", table="composed", what="8 values"),
            band=at_most(1),
            violation=2,
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
        blocked="SSE depends on the number of random starts and on how influence makes weights; neither is stated",
    )


def _against_controls() -> list[Claim]:
    """Ours against the better of permuted columns and one constant record, under one measure at a time."""
    lines = [
        (method, column, words)
        for method in ("mixture", "graphical", "representative")
        for column, words in (("two_way", "tables of two attributes"), ("matched", "SSE of matched rows"))
    ]
    lines += [(one, "aligned", "SSE of aligned rows") for one in ("insensitive_microaggregation", "per_record")]
    return [
        _ours(
            f"{column}_{method}",
            f"8 attributes: {OURS[method]} beats permuted columns and a constant record in {words}",
            quantity=over_best(method, CONTROLS, column),
            band=at_most(LOWER),
            violation=0,
            axis="epsilon",
        )
        for method, column, words in lines
    ]


def _against_published() -> list[Claim]:
    """Ours against the best of the published releases, which nothing protects, under one measure at a time."""
    lines = [
        (method, column, words, "permuted columns")
        for method in ("mixture", "graphical")
        for column, words in (("two_way", "tables of two attributes"), ("matched", "SSE of matched rows"))
    ]
    lines += [("insensitive_microaggregation", "aligned", "SSE of aligned rows", "constant record")]
    return [
        _ours(
            f"{column}_{method}_published",
            f"8 attributes, epsilon = 1: {OURS[method]} beats the published releases (k = 20, not proven) in {words}",
            quantity=over_best(method, ("dp_k_prototypes", "mdav", control), column, epsilon=BUDGET),
            band=at_most(LOWER),
            violation=0,
        )
        for method, column, words, control in lines
    ]


def _shown() -> list[Claim]:
    """How large the faults of the published release are."""
    d, k = PLACE
    where = f"{d} attributes, k = {k}"
    return [
        _ours(
            "no_noise",
            f"{where}, epsilon = 0.5: the noise of the published release does not show in SSE, to three digits",
            quantity=times("aligned", "noise", "no noise", table="noise"),
            band=within(1, 0.005),
            violation=1.05,
        ),
        _ours(
            "often_moved",
            "at least half of all replaced records move others between the published clusters",
            quantity=level("share of replaced records that move others", "moved_others", table="replaced"),
            band=at_least(0.5),
            violation=0,
            axis="clusters",
        ),
    ]
