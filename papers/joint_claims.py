"""Which claims of the document on joint distributions hold, and which of our corrections of it, with tolerances."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.inference.joint.bit_evidence import one_hot
from dpress.inference.joint.likelihood import Split, in_memory
from dpress.inference.joint.mixture import maximise
from dpress.mechanisms.joint.rr_ldp import RrLdp

Row = dict[str, Any]
ERRORS = 4  # standard errors of the mean that are added to every tolerance
STATED = 0.02  # how far a mean may lie from a stated one: ours were means of few runs
UNNAMED = 0.05  # the same where the document names no penalty for LASSO
MARGIN = 0.01  # of a mean AVD: what counts as no worse
GAP = 1e-4
PUBLISHED = ("em", "lasso", "lremh")
VALUES = (  # data, k, f, method, stated, tolerance
    ("adult", 5, "0.1", "em", 0.876, STATED),
    ("adult", 5, "0.1", "lasso", 0.718, UNNAMED),
    ("adult", 5, "0.1", "lremh", 0.716, UNNAMED),
    ("adult", 5, "0.1", "product", 0.627, STATED),
    ("adult", 5, "0.1", "pairs", 0.155, STATED),
    ("nltcs", 4, "0.5", "em", 0.31, STATED),
    ("nltcs", 4, "0.5", "lasso", 0.15, UNNAMED),
    ("nltcs", 4, "0.5", "lremh", 0.15, UNNAMED),
    ("nltcs", 4, "0.5", "pairs", 0.028, 0.01),
    ("nltcs", 4, "0.5", "one", 0.030, 0.01),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A claim, whose it is, what was found, and whether the two agree."""

    source: Literal["document", "dpress"]
    claim: str
    found: str
    holds: bool

    @property
    def verdict(self) -> str:
        """The words for it: only a claim of ours can fail, one of the document is held or not."""
        if self.source == "dpress":
            return "holds          " if self.holds else "FAILS          "
        return "held           " if self.holds else "did not hold   "


def of_the_document(rows: Sequence[Row], loops: Sequence[Row], sizes: Sequence[Row]) -> list[Verdict]:
    """Return a line for every claim of the document."""
    bits = [row for row in rows if row["reports"] == "rr_ldp"]
    return [*_times(bits), *_slow(bits, loops), *_errors(bits), *_reports(rows, sizes)]


def of_ours(rows: Sequence[Row]) -> list[Verdict]:
    """Return a line for every correction."""
    bits = [row for row in rows if row["reports"] == "rr_ldp"]
    return [_guarantee(), _concave(), _at_once(bits), *_values(bits), *_comparisons(bits)]


def _document(claim: str, found: str, *, holds: bool) -> Verdict:
    return Verdict(source="document", claim=claim, found=found, holds=holds)


def _ours(claim: str, found: str, *, holds: bool) -> Verdict:
    return Verdict(source="dpress", claim=claim, found=found, holds=holds)


def _settings(rows: Sequence[Row], needed: Sequence[str]) -> Iterator[dict[str, Row]]:
    """Yield the rows by method of every setting that has all the methods."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("data", "k", "who", "f"))
        found.setdefault(key, {})[row["method"]] = row
    yield from (own for own in found.values() if set(needed) <= set(own))


def _times(rows: Sequence[Row]) -> Iterator[Verdict]:
    """LASSO fastest, EM slowest, LREMH between: in our implementation, on one core."""
    each = list(_settings(rows, PUBLISHED))
    seconds = [{name: own[name]["seconds"] for name in PUBLISHED} for own in each]
    rules: dict[str, Callable[[dict[str, float]], bool]] = {
        "LASSO is the fastest": lambda own: own["lasso"] == min(own.values()),
        "EM is the slowest": lambda own: own["em"] == max(own.values()),
        "LREMH lies between": lambda own: own["lasso"] <= own["lremh"] <= own["em"],
    }
    worst = max(each, key=lambda own: own["em"]["cells"] * own["em"]["users"])
    example = ", ".join(f"{name} {worst[name]['seconds']:.3f} s" for name in PUBLISHED)
    where = f"{worst['em']['data']}, k = {worst['em']['k']}, {worst['em']['users']:,} reports"
    for words, rule in rules.items():
        count = sum(map(rule, seconds))
        found = f"in {count} of {len(each)} settings as dpress computes them ({where}: {example})"
        yield _document(f"{words} (tolerance: 9 settings of 10)", found, holds=count >= 0.9 * len(each))


def _slow(rows: Sequence[Row], loops: Sequence[Row]) -> Iterator[Verdict]:
    """EM on Adult: k = 5 several times slower than k = 2, and nothing within 120 s past that."""
    best = {row["k"]: row for row in rows if (row["data"], row["method"]) == ("adult", "em") and row["f"] == "0.1"}
    full = {row["k"]: row for row in loops if row["who"] == "all"}
    last = max((row for row in loops), key=lambda row: row["k"])
    if {2, 5} <= set(full):
        ratio = full[5]["seconds_a_report"] / full[2]["seconds_a_report"]
        ours = best[5]["seconds"] / best[2]["seconds"]
        found = (
            f"a step of the loop over reports {ratio:.1f} times; until its rule stops it, in dpress, {ours:.1f} times"
        )
        yield _document(
            "EM on Adult takes several times longer for k = 5 than for k = 2 (at least 2)", found, holds=ratio >= 2
        )
    if last["k"] > 5:
        found = (
            f"k = {last['k']}, {last['cells']:,} cells, {last['users']:,} reports: the loop, timed on 200 reports, "
            f"takes {last['seconds']:.1f} s for the {last['steps']:.0f} steps until its rule stops it, and "
            f"{100 * last['seconds'] / last['steps']:.0f} s for 100; dpress {last['ours']:.2f} s"
        )
        yield _document("EM on Adult gives nothing within 120 s for k > 5", found, holds=last["seconds"] > 120)
    lasso = max(
        (row for row in rows if (row["data"], row["method"]) == ("adult", "lasso")), key=lambda row: row["cells"]
    )
    found = f"{lasso['seconds']:.2f} s for k = {lasso['k']}, {lasso['cells']:,} cells, {lasso['users']:,} reports"
    yield _document("LASSO on Adult takes a few seconds for k >= 5 (at most 10)", found, holds=lasso["seconds"] <= 10)


def _errors(rows: Sequence[Row]) -> Iterator[Verdict]:
    """Errors on NLTCS, and LREMH against both of its parts."""
    nltcs = [row for row in rows if row["data"] == "nltcs" and row["k"] <= 5]
    for method, words, holds in (
        ("em", "EM's AVD goes up to 0.28 for large f (f >= 0.7; tolerance 0.03, the largest of k = 2 to 5)", _up_to_28),
        ("lasso", "LASSO's AVD stays near 0.1 even at f = 0.9 (at most 0.15, k = 2 to 5)", _near_10),
    ):
        own = [row for row in nltcs if row["method"] == method and row["f"] == "0.9"]
        sample = [row["avd"] for row in own if row["who"] == "sample"]
        found = "; ".join(f"{who}: {_by_k([r for r in own if r['who'] == who])}" for who in ("sample", "all"))
        yield _document(f"NLTCS: {words}", f"at f = 0.9, {found}", holds=holds(max(sample)))
    each = list(_settings(rows, PUBLISHED))
    for other in ("em", "lasso"):
        count = sum(own["lremh"]["avd"] <= own[other]["avd"] + _noise(own["lremh"], own[other]) for own in each)
        mean = float(np.mean([own[other]["avd"] - own["lremh"]["avd"] for own in each]))
        yield _document(
            f"LREMH is no worse than {other} ({ERRORS} standard errors in 9 settings of 10, {MARGIN} on average)",
            f"in {count} of {len(each)} settings; its AVD is smaller by {mean:+.3f} on average",
            holds=count >= 0.9 * len(each) and mean >= -MARGIN,
        )


def _up_to_28(largest: float) -> bool:
    return abs(largest - 0.28) <= 0.03


def _near_10(largest: float) -> bool:
    return largest <= 0.15


def _by_k(rows: Sequence[Row]) -> str:
    return ", ".join(f"k = {row['k']} {row['avd']:.3f} +- {row['standard_error']:.3f}" for row in rows)


def _reports(rows: Sequence[Row], sizes: Sequence[Row]) -> Iterator[Verdict]:
    """Report sizes, and the same estimators on Bloom filters."""
    shorter = sum(row["rr_ldp_bytes"] < row["rappor_bytes"] for row in sizes)
    words = [
        max((row for row in sizes if row["data"] == name), key=lambda row: row["k"]) for name in ("nltcs", "adult")
    ]
    found = "; ".join(
        f"{row['data']}, {row['k']} attributes: {row['rr_ldp_bits']} bits, {row['rappor_bits']} with 128 a filter"
        for row in words
    )
    yield _document("a report of rr_ldp is shorter than rappor's", found, holds=shorter == len(sizes))
    blooms = {_key(row): row["avd"] for row in rows if row["reports"] == "rappor" and row["method"] in PUBLISHED}
    same = [(blooms[_key(row)], row) for row in rows if row["reports"] == "rr_ldp" and _key(row) in blooms]
    count = sum(row["avd"] <= avd + ERRORS * row["standard_error"] for avd, row in same)
    mean = float(np.mean([avd - row["avd"] for avd, row in same]))
    yield _document(
        f"all three are no worse on reports of rr_ldp than of rappor, at one epsilon (9 in 10, {MARGIN} in the mean)",
        f"in {count} of {len(same)} pairs of settings; rappor's AVD is larger by {mean:+.3f} on average",
        holds=count >= 0.9 * len(same) and mean >= -MARGIN,
    )


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("data", "k", "f", "who", "method"))


def _guarantee() -> Verdict:
    """One report costs d ln R, d times what the document says, and that is exact."""
    oracle = RrLdp(sizes=(2, 3), f=Fraction(1, 2))
    table = np.array([[float(value) for value in row] for row in oracle.channel().probabilities])
    found = float(np.log(table.max(axis=0) / table.min(axis=0)).max())
    assert isinstance(oracle.claim.proven, PureDP)  # noqa: S101  # it has a proof
    stated = float(oracle.claim.proven.epsilon)
    return _ours(
        "one report costs d ln R (tolerance 1e-9): the document drops the factor d",
        f"2 attributes, f = 0.5: largest log ratio of the exact channel {found:.9f}, d ln R = {stated:.9f}",
        holds=abs(found - stated) <= 1e-9,
    )


def _concave() -> Verdict:
    """EM has no bad local optima: every start ends at the same likelihood."""
    source, split = rng.seeded(3), Split((2, 2, 2, 2))
    values = (source.words(4 * 4000) >> np.uint64(63)).astype(np.int32).reshape(4, -1)
    values[1:] &= values[:1]
    oracle = RrLdp(sizes=split.sizes, f=Fraction(1, 2))
    bits = np.unpackbits(oracle.perturb(values, rng=source), axis=1, count=8, bitorder="little")
    evidence = one_hot(2, q_star=float(oracle.responses.q_star), p_star=float(oracle.responses.p_star))
    fold = in_memory(split.halves([evidence.likelihoods(own) for own in np.split(bits, 4, axis=1)]))
    starts = [-(np.log((source.words(split.cells) + 0.5) / 2.0**64) ** 3) for _ in range(20)]
    ends = [maximise(fold, split, start, gap=GAP).log_likelihood for start in starts]
    return _ours(
        f"the log-likelihood is concave: EM has no bad local optima (tolerance {GAP:g})",
        f"20 random starts end within {max(ends) - min(ends):.1e} of one another in mean log-likelihood",
        holds=max(ends) - min(ends) <= GAP,
    )


def _at_once(rows: Sequence[Row]) -> Verdict:
    """The published stopping rule fires at once where cells are many."""
    many = [row for row in rows if row["method"] == "em" and row["cells"] > 1000]
    most = max(row["passes"] - 1 for row in many)
    return _ours(
        "the published rule stops EM at once where cells are many: at most 3 steps beyond 1,000 cells",
        f"at most {most:.0f} steps in {len(many)} settings",
        holds=most <= 3,
    )


def _values(rows: Sequence[Row]) -> Iterator[Verdict]:
    """Every figure that our notes on the document state."""
    for data, k, f, method, stated, tolerance in VALUES:
        found = [row for row in rows if (row["data"], row["k"], row["f"], row["method"]) == (data, k, f, method)]
        for row in (row for row in found if row["who"] == "all"):
            allowed = tolerance + ERRORS * row["standard_error"]
            ours = method in {"pairs", "one"}  # may become better than when the figure was written down
            off = row["avd"] - stated if ours else abs(row["avd"] - stated)
            words = f"the AVD of {method} is {'at most ' if ours else ''}{stated} (tolerance {allowed:.3f})"
            yield _ours(
                f"{data}, first {k} attributes, f = {f}: {words}",
                f"{row['avd']:.3f} +- {row['standard_error']:.3f}, {row['runs']} runs",
                holds=off <= allowed,
            )


def _comparisons(rows: Sequence[Row]) -> Iterator[Verdict]:
    """Who beats whom at the same epsilon a report."""
    full = [row for row in rows if row["who"] == "all"]
    hard = [row for row in full if row["data"] == "adult" and row["k"] == 5 and row["f"] == "0.1"]
    for method in PUBLISHED:
        yield _beaten(hard, "product", method, 1.0, "on Adult, 5 attributes, f = 0.1")
    for method in (*PUBLISHED, "product"):
        yield _beaten(full, "pairs", method, 0.9, "of everybody's reports")
    yield _beaten(
        [row for row in full if row["f"] in ("0.1", "0.5")], "early", "em", 1.0, "of everybody's reports, f <= 0.5"
    )


def _beaten(rows: Sequence[Row], better: str, worse: str, part: float, where: str) -> Verdict:
    each = list(_settings(rows, (better, worse)))
    count = sum(own[better]["avd"] <= own[worse]["avd"] + _noise(own[better], own[worse]) for own in each)
    mean = [float(np.mean([own[name]["avd"] for own in each])) for name in (better, worse)]
    return _ours(
        f"{better} is nearer to the truth than {worse} {where} (within {ERRORS} standard errors, {part:.0%})",
        f"in {count} of {len(each)} settings; mean AVD {mean[0]:.3f} against {mean[1]:.3f}",
        holds=bool(each) and count >= part * len(each),
    )


def _noise(first: Row, second: Row) -> float:
    return ERRORS * math.hypot(first["standard_error"], second["standard_error"])
