"""What the document on joint distributions claims, what dpress claims of its own methods there, and two identities.

Bands: "mostly" is at least half of the settings, a plain statement at least 19 in 20, "several times" at least
twice, "a few seconds" at most ten, "sharply" and "slowly" at least and at most twice, "hardly" at most a quarter; a
small f is at most .3, a large one at least .7.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import claims as judging
import numpy as np
import quantities
from claims import Band, Claim, about, at_least, at_most
from joint_loops import LOOPS
from joint_methods import MEANT, NO_RULE, PRINTED
from quantities import Quantity, Row

from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.joint.rr_ldp import RrLdp

PUBLISHED = ("em", "lasso", "lremh")
FORMS = tuple(f"{loop}, rule {rule}" for loop in LOOPS for rule in (PRINTED, MEANT))
NLTCS, ADULT = ("nltcs",), ("adult_codes",)
EITHER = NLTCS + ADULT
DEVICE = "p = 1/2, q = 3/4"
PLACE = "experiments"
SETTING = ("data", "k", "f")
RULES = (MEANT, NO_RULE)
MACHINE = "on this machine; the document's is not known"
LIMIT = 120.0  # seconds, after which the document gives up
WORSE = 1.25  # of a ratio: the planted violation of "nearer"
EXACT = 1e-9


def claims() -> list[Claim]:
    """Return every claim."""
    return [*_time(), *_time_by(), *_error(), *_error_by(), *_report(), *_of_ours(), *_identities()]


def _time() -> Iterator[Claim]:
    """Yield what the document says of time, of the estimators with its own loops on its own sample."""
    rules: dict[str, tuple[str, Callable[[Mapping[str, float]], bool]]] = {
        "lasso_fastest": ("LASSO is the fastest of the three", lambda own: own["lasso"] < min(own["em"], own["lremh"])),
        "em_slowest": ("EM is the slowest of the three", lambda own: own["em"] > max(own["lasso"], own["lremh"])),
        "lremh_between": ("LREMH's time lies between", lambda own: own["lasso"] <= own["lremh"] <= own["em"]),
    }
    orders = ({"lasso": 1.0, "lremh": 2.0, "em": 3.0}, {"em": 1.0, "lremh": 0.5, "lasso": 2.0})
    for key, (words, holds) in rules.items():
        share = quantities.share(
            "share of settings (data set, k = 2 to 5, f) in which it does", holds, "seconds", by=SETTING, table="times",
            yes=orders[0], no=orders[1], device=DEVICE, k=(2, 3, 4, 5),
        )  # fmt: skip
        yield _document(key, words, share, at_least(0.95), violation=0.75, data=EITHER, axis="form", place="time by f")
    slower = quantities.ratio(
        2, 5, "seconds", by=("f",), name="k", table="times", data="adult", method="em", device=DEVICE
    )  # type: ignore[arg-type]  # numbers of attributes, in place of methods
    yield _document(
        "em_several_times", "on Adult, EM takes several times longer for k = 5 than for k = 2",
        replace(slower, words="time for k = 2 over that for k = 5"), at_most(0.5), violation=1, data=ADULT, axis="form",
        place="time on Adult",
    )  # fmt: skip
    beyond = {"table": "times", "data": "adult", "k": 6, "device": DEVICE}
    yield _document(
        "em_gives_up", f"on Adult, EM gives nothing within {LIMIT:g} s for k > 5",
        quantities.level("seconds of EM for k = 6, 4,522 reports, mean over f", "seconds", method="em", **beyond),
        at_least(LIMIT), violation=LIMIT / 2, data=ADULT, axis="form", place="time on Adult", note=MACHINE,
    )  # fmt: skip
    yield _document(
        "lasso_few_seconds", "on Adult, LASSO takes a few seconds where EM takes too long",
        quantities.level("seconds of LASSO for k = 6, mean over f", "seconds", method="lasso", **beyond),
        at_most(10), violation=20, data=ADULT, place="time on Adult", note=MACHINE,
    )  # fmt: skip


def _time_by() -> Iterator[Claim]:
    """Yield what the document says of how time grows, with f and with the number of attributes."""
    same: dict[str, Any] = {"table": "times", "device": DEVICE, "k": (2, 3, 4, 5)}
    grows = quantities.steps(
        "share of steps of f at which EM's time rises, by data set and k", "seconds", "f", sign=1, by=("data", "k"),
        tolerance=0.02, method="em", **same,
    )  # fmt: skip
    yield _document(
        "em_time_with_f", "EM's time grows with f", grows, at_least(0.95), violation=0.75, data=EITHER, axis="form",
        place="time by f",
    )  # fmt: skip
    sharply = quantities.ratio("0.9", "0.7", "seconds", by=("data", "k"), name="f", method="em", **same)
    yield _document(
        "em_time_sharply", "EM's time grows sharply for f above 0.7",
        replace(sharply, words="time at f = 0.9 over that at f = 0.7"), at_least(2), violation=1, data=EITHER,
        axis="form", place="time by f",
    )  # fmt: skip
    slowly = quantities.ratio(5, 2, "seconds", by=("f",), name="k", table="times", method="lasso", device=DEVICE)  # type: ignore[arg-type]  # numbers of attributes, in place of methods
    yield _document(
        "lasso_time_with_k", "LASSO's time grows slowly with k",
        replace(slowly, words="time for k = 5 over that for k = 2"), at_most(2), violation=4, data=EITHER, axis="data",
        place="time by k",
    )  # fmt: skip


def _error_by() -> Iterator[Claim]:
    """Yield what the document says of AVD by f and by the number of attributes, on its own sample, by device."""
    below: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("lasso", "small", ("0.1", "0.2", "0.3")),
        ("em", "large", ("0.7", "0.8", "0.9")),
    )
    for other, size, some in below:
        lower = quantities.share(
            f"share of settings (data set, k = 2 to 5, f of {some[0]} to {some[-1]}) in which it is",
            lambda avd, other=other: avd["lremh"] < avd[other], "avd", by=("data", "k", "f"),
            yes={"lremh": 1.0, other: 2.0}, no={"lremh": 2.0, other: 1.0}, who="sample", rule=(MEANT, NO_RULE),
            k=(2, 3, 4, 5), f=some,
        )  # fmt: skip
        yield _document(
            f"lremh_below_{other}", f"LREMH's AVD is below that of {other.upper()} at {size} f", lower, at_least(0.95),
            violation=0.75, data=EITHER, axis="device", place="AVD by f",
        )  # fmt: skip
    same: dict[str, Any] = {"data": "adult", "k": 2, "who": "sample", "rule": (MEANT, NO_RULE)}
    change = quantities.ratio("0.9", "0.1", "avd", name="f", method="lasso", **same)
    yield _document(
        "lasso_avd_adult_2", "on Adult at k = 2, LASSO's AVD hardly changes with f",
        replace(change, words="LASSO's AVD at f = 0.9 over that at f = 0.1"), about(1), violation=(0.3, 2.0),
        data=ADULT, axis="device", place="AVD by f, Adult",
    )  # fmt: skip
    rises = quantities.steps(
        "share of steps of f at which EM's AVD rises", "avd", "f", sign=1, by=("device",), tolerance=0.02, method="em",
        **same,
    )  # fmt: skip
    yield _document(
        "em_avd_adult_2", "on Adult at k = 2, EM's AVD rises with f", rises, at_least(0.95), violation=0.5,
        data=ADULT, axis="device", place="AVD by f, Adult",
    )  # fmt: skip
    larger = quantities.share(
        "share of settings (data set, device, f) in which AVD at k = 5 is above that at k = 2",
        lambda avd: avd[5] > avd[2], "avd", by=("data", "device", "f"), name="k",  # type: ignore[index]
        yes={2: 1.0, 5: 2.0}, no={2: 2.0, 5: 1.0}, method=PUBLISHED, who="sample", rule=(MEANT, NO_RULE),
    )  # type: ignore[arg-type]  # numbers of attributes, in place of methods  # fmt: skip
    yield _document(
        "all_larger_at_5", "at k = 5 all errors are larger than at k = 2", larger, at_least(0.95), violation=0.75,
        data=EITHER, axis="method", place="AVD by f",
    )  # fmt: skip


def _error() -> Iterator[Claim]:
    """Yield what the document says of AVD, on its own sample, by device."""
    for rule, more in ((MEANT, ""), (PRINTED, "_printed")):
        between = quantities.share(
            f"share of settings (data set, k = 2 to 5, f) in which its AVD does, EM's rule {rule}", _between, "avd",
            by=SETTING, yes=dict(zip(PUBLISHED, (3.0, 1.0, 2.0), strict=True)),
            no=dict(zip(PUBLISHED, (3.0, 2.0, 1.0), strict=True)), who="sample", rule=(rule, NO_RULE), k=(2, 3, 4, 5),
        )  # fmt: skip
        yield _document(
            f"lremh_avd_between{more}", "LREMH's AVD lies mostly between those of EM and LASSO", between,
            at_least(0.5), violation=0.2, data=EITHER, axis="device", place="AVD by f",
        )  # fmt: skip
        em = quantities.level(
            f"EM's AVD at f = 0.9, rule {rule}", "avd", method="em", rule=rule, data="nltcs", who="sample", f="0.9"
        )
        yield _document(
            f"em_avd{more}", "on NLTCS, EM's AVD goes up to 0.28 for large f", em, about(0.28), violation=(0.07, 0.56),
            data=NLTCS, axis="device and k", place="AVD by f, NLTCS",
        )  # fmt: skip
    lasso = quantities.level("LASSO's AVD at f = 0.9", "avd", method="lasso", data="nltcs", who="sample", f="0.9")
    yield _document(
        "lasso_avd", "on NLTCS, LASSO's AVD stays near 0.1 even at f = 0.9", lasso, about(0.1), violation=(0.02, 0.2),
        data=NLTCS, axis="device and k", place="AVD by f, NLTCS", note="the penalty is not stated: dpress's own",
    )  # fmt: skip


def _between(avd: Mapping[str, float]) -> bool:
    return min(avd["em"], avd["lasso"]) <= avd["lremh"] <= max(avd["em"], avd["lasso"])


def _report() -> Iterator[Claim]:
    """Yield what the document says of a report: its size and its loss."""
    shorter = quantities.share(
        "share of numbers of attributes in which it is", lambda bits: bits["rr_ldp"] < bits["rappor"], "bits",
        by=("data", "k"), table="report_sizes", yes={"rr_ldp": 1.0, "rappor": 2.0}, no={"rr_ldp": 2.0, "rappor": 1.0},
    )  # fmt: skip
    yield _document(
        "shorter_report", "a report of RR-LDP is shorter than RAPPOR's for the same attributes", shorter,
        at_least(0.95), violation=0.75, axis="filter", place="size of a report",
    )  # fmt: skip
    for reports, words in (("one", "one report costs ln R"), ("any", "all reports together cost eps1 + eps2")):
        ratio = quantities.level("exact loss over the stated one, d = 2", "ratio", table="losses", reports=reports)
        yield _document(
            f"loss_of_{reports}", f"{words}, at most", ratio, at_most(1 + EXACT), violation=1.5, place="privacy"
        )


def _of_ours() -> Iterator[Claim]:
    """Yield what dpress says of its own methods at the same epsilon a report, and of what goes wrong."""
    for better, worse in (
        *(("product", other) for other in PUBLISHED),
        *(("pairs", other) for other in (*PUBLISHED, "product", "early", "one")),
        *(("early", other) for other in (*PUBLISHED, "product")),
    ):
        yield _nearer(better, worse)
    for better in ("early", "pairs"):
        yield _often_nearer(better, "lasso")
    stalls = quantities.level(
        "steps on Adult, k = 5, everybody", "steps", method="em", data="adult", k=5, who="all", device=DEVICE
    )
    yield _ours("em_stops_at_once", "where cells are many, EM's rule stops it at once", stalls, at_most(3),
                violation=10, data=ADULT, axis="rule")  # fmt: skip
    for method in PUBLISHED:
        nothing = quantities.ratio(method, "uniform", "avd", by=("k",), who="all", device=DEVICE, rule=RULES)
        yield _ours(
            f"{method}_beats_uniform", f"{method} is nearer to the truth than the uniform table, by a tenth or more",
            nothing, at_most(0.9), violation=1.0, data=EITHER, axis="data and f",
        )  # fmt: skip
    larger = quantities.ratio(4, 1, "avd", name="scale", table="penalties", method="lasso", device=DEVICE)  # type: ignore[arg-type]  # in place of methods
    yield _ours(
        "penalty_4", "LASSO is nearer to the truth under 4 times dpress's penalty",
        replace(larger, words="AVD over that under the penalty itself"), at_most(1), violation=WORSE, data=EITHER,
        axis="data and f",
    )  # fmt: skip
    yield _ours(
        "penalty_matters", "LASSO's AVD depends on its penalty, which the document does not state", _by_penalty(),
        at_most(0.85), violation=1.0, data=EITHER, axis="data and f",
    )  # fmt: skip
    yield _ours(
        "concave", "the log-likelihood is concave: EM has no bad local optimum",
        quantities.level("spread of the mean log-likelihoods in which 20 random starts end", "spread", table="starts"),
        at_most(1e-4), violation=1e-3,
    )  # fmt: skip


def _by_penalty() -> Quantity:
    def spread(rows: Sequence[Row]) -> float:
        each = [quantities.mean(own, "avd") for own in quantities.settings(rows, ("scale",)).values()]
        return min(each) / max(each)

    def example(value: float) -> list[Row]:
        return [{"scale": 0.25, "avd": 1.0}, {"scale": 4, "avd": value}]

    words = "smallest AVD over the largest, penalties from 1/4 to 4 times dpress's"
    where = {"method": "lasso", "device": DEVICE, "scale": (0.25, 0.5, 1, 2, 4)}
    return Quantity(words=words, table="penalties", where=where, of=spread, example=example)


def _nearer(better: str, worse: str) -> Claim:
    ratio = quantities.ratio(better, worse, "avd", by=("k",), who="all", device=DEVICE, rule=RULES)
    words = f"{better} is nearer to the truth than {worse}, of everybody's reports"
    return _ours(
        f"{better}_nearer_than_{worse}", words, ratio, at_most(1), violation=WORSE, data=EITHER, axis="data and f"
    )


def _often_nearer(better: str, worse: str) -> Claim:
    share = quantities.share(
        "share of settings (k, f) in which it is", lambda avd: avd[better] < avd[worse], "avd", by=("k", "f"),
        yes={better: 1.0, worse: 2.0}, no={better: 2.0, worse: 1.0}, who="sample", device=DEVICE, k=(2, 3, 4, 5),
    )  # fmt: skip
    words = f"{better} is mostly nearer to the truth than {worse}, of the document's sample"
    return _ours(f"{better}_mostly_nearer_than_{worse}", words, share, at_least(0.5), violation=0.2, data=EITHER,
                 axis="data")  # fmt: skip


def exact_loss(oracle: RrLdp) -> float:
    """Return the largest log ratio of the exact channel."""
    table = np.array([[float(value) for value in row] for row in oracle.channel().probabilities])
    return float(np.log(table.max(axis=0) / table.min(axis=0)).max())


def _identities() -> Iterator[Claim]:
    p, q = Fraction(0), Fraction(1)
    for key, words, oracle in (
        ("report_costs", "one report costs d ln R", RrLdp(sizes=(2, 3), f=Fraction(1, 2))),
        ("lifetime_costs", "the permanent response costs 2 d ln((2 - f) / f), and so do all reports together",
         RrLdp(sizes=(2, 3), f=Fraction(1, 2), p=p, q=q)),
    ):  # fmt: skip
        assert isinstance(oracle.claim.proven, PureDP)  # noqa: S101  # it has a proof
        proven, exact = float(oracle.claim.proven.epsilon), exact_loss(oracle)
        yield judging.identity(key, words, "guarantee", _off(proven, exact), EXACT)


def _off(proven: float, exact: float) -> Callable[[float], float]:
    return lambda factor: abs(factor * proven - exact)


def _document(
    key: str,
    words: str,
    quantity: Quantity,
    band: Band,
    *,
    violation: float | tuple[float, ...],
    data: tuple[str, ...] = (),
    **more: Any,
) -> Claim:
    """Return a claim of the document."""
    return Claim(key=key, whose="document", words=words, quantity=quantity, band=band, violation=violation, data=data,
                 **more)  # fmt: skip


def _ours(
    key: str,
    words: str,
    quantity: Quantity,
    band: Band,
    *,
    violation: float,
    data: tuple[str, ...] = (),
    axis: str = "",
) -> Claim:
    """Return a claim of dpress."""
    return Claim(key=key, whose="dpress", words=words, place="dpress", quantity=quantity, band=band,
                 violation=violation, data=data, axis=axis)  # fmt: skip
