"""The joint table of greatest likelihood, or of greatest posterior density: reports' likelihoods -> EM -> a table.

The reports are a mixture with known components: report i has likelihood L_i(w) if its record lies in cell w, and the
mixing proportions P are the joint table. The log-likelihood is concave in P, so that EM has no bad local optimum; what
it has is slow convergence, and a maximum that fits the noise. So the iteration is accelerated, it is stopped by a bound
on what is still to be gained, and a prior pulls the table towards what needs little evidence.
Paper: Dempster, Laird, Rubin 1977; acceleration: SQUAREM, Varadhan and Roland 2008.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.joint.information import LARGEST, information, minimiser, working_set
from dpress.inference.joint.likelihood import LEAST, Fold, Halves, Kernel, Split

Mask = npt.NDArray[np.bool_]

HALVINGS = 4  # of an extrapolation that loses what two EM steps gained
OPEN = 1e-9  # of the table, over all cells, so that EM can still raise one
NEAR = 5e-3  # the gap below which the cells that matter are known
ROUNDING = 1e-7  # of a mean log-likelihood in single precision
SHRINK = 1e-2  # of a proportion that an extrapolation would make negative
Progress = Callable[[int, float], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Pseudo-reports that know their cell: a Dirichlet density proportional to prod P(w)^(A m(w)).

    Args:
        table: m, the shares the table is pulled towards, adding up to 1, shape (cells,).
        weight: A, how many reports it counts for.
        reason: one line for whoever reads the release: why it is there and where A comes from.
    """

    table: Array
    weight: float
    reason: str

    def __post_init__(self) -> None:
        if self.weight < 0 or self.table.min() < 0 or not np.isclose(self.table.sum(), 1):
            raise ValueError("a prior needs shares that add up to 1 and a weight >= 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Where the iteration ended.

    Args:
        table: P, shares of the cells, adding up to 1, flat and row-major.
        gap: a bound on what the mean log-likelihood (with the prior's part) could still gain; see `step`.
        passes: how often all reports were read.
        log_likelihood: of `table`, the mean over the reports up to a constant of the reports.
        reason: why it ended there, for the release.
    """

    table: Array
    gap: float
    passes: int
    log_likelihood: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One EM step from a table.

    Args:
        table: the table after it.
        slope: P' / P before it adds up to 1: the derivative of the objective, shape (cells,).
        gap: of the table before it.
        objective: of the table before it: mean log-likelihood, with the prior's part where there is one.
        log_likelihood: the same without the prior's part.
    """

    table: Array
    slope: Array
    gap: float
    objective: float
    log_likelihood: float


def users(fold: Fold) -> float:
    """Return the number of reports."""
    return float(fold(lambda halves: np.array([halves.counts.sum()]))[0])


def step(fold: Fold, split: Split, table: Array, reports: float, prior: Prior | None = None) -> Step:
    """Return the EM step P'(w) = (P(w) sum_i L_i(w) / p_i + A m(w)) / (N + A), p_i = sum_w P(w) L_i(w), in one pass.

    Gap: F(P) = (sum_i log p_i + A sum_w m(w) log P(w)) / (N + A) is concave, so for every table Q that P does not rule
    out, F(Q) - F(P) <= sum_w (Q(w) - P(w)) dF/dP(w) = sum_w Q(w) P'(w) / P(w) - 1 <= max_w P'(w) / P(w) - 1, because
    dF/dP(w) = P'(w) / P(w) and sum_w P(w) dF/dP(w) = 1. Without a prior it is max_w (1/N) sum_i L_i(w) / p_i - 1, also
    over cells where P is 0: the log-likelihood at the optimum exceeds the present one by at most N times it.

    Args:
        fold: over the reports.
        split: of the attributes; the halves of `fold` are its own.
        table: P, non-negative, adding up to 1, flat and row-major.
        reports: N.
        prior: left out, the likelihood alone counts.
    """
    total = fold(_kernel(split.matrix(table)))
    slope = split.table(total[:-1].reshape(split.shape))
    log_likelihood = float(total[-1]) / reports
    if prior is None or prior.weight == 0:
        slope = slope / reports
        return stepped(table, slope, log_likelihood, log_likelihood)
    whole = reports + prior.weight
    held = prior.table > 0
    with np.errstate(divide="ignore"):
        slope = (slope + prior.weight * np.divide(prior.table, table, out=np.zeros_like(table), where=held)) / whole
        pull = float(prior.table[held] @ np.log(table[held]))
    objective = (log_likelihood * reports + prior.weight * pull) / whole
    return stepped(table, slope, objective, log_likelihood)


def stepped(table: Array, slope: Array, objective: float, log_likelihood: float) -> Step:
    """Return the EM step that multiplies every cell by the slope, P' / P."""
    after = table * slope
    return Step(
        table=after / after.sum(),  # the sum is 1 but for rounding
        slope=slope,
        gap=max(float(slope.max()) - 1, 0.0),
        objective=objective,
        log_likelihood=log_likelihood,
    )


def _kernel(matrix: Array) -> Kernel:
    """Return the kernel of one pass: X^T diag(c / p) Y, then sum c log p; two products in the halves' precision."""

    def kernel(halves: Halves) -> Array:
        joint = halves.left @ matrix.astype(halves.left.dtype)
        each = np.maximum(np.einsum("ij,ij->i", joint, halves.right), LEAST)
        np.multiply(halves.right, (halves.counts / each).astype(joint.dtype)[:, None], out=joint)
        slope = (joint.T @ halves.left).T.astype(np.float64)  # this way round the product is a little faster
        return np.append(slope.ravel(), halves.counts @ np.log(each, dtype=np.float64))

    return kernel


def maximise(
    fold: Fold,
    split: Split,
    start: Array,
    *,
    prior: Prior | None = None,
    gap: float = 1e-4,
    passes: int = 1000,
    progress: Progress | None = None,
) -> Fit:
    """Return the table of greatest likelihood, or with a prior of greatest posterior density, up to `gap`.

    EM steps with SQUAREM's extrapolation, halved while it would lose what two EM steps gain, so that the objective
    never falls but for rounding. Without a prior the maximum lies in few cells; once the gap is below NEAR, Newton
    steps on those end it.
    Memory: a few tables of 8 bytes a cell, and what the fold holds. A cell whose start is 0 stays 0,
    and the gap is that over the others.

    Args:
        fold: over the reports; called once a pass.
        split: of the attributes.
        start: positive where the table may be, shape (cells,); it is scaled to add up to 1.
        prior: what the table is pulled towards.
        gap: the bound on what the mean log-likelihood could still gain.
        passes: the most passes; if they are used up, `reason` says so and `gap` holds what was reached.
        progress: called after every accepted step with the passes so far and the gap.
    """
    table = checked(start, split.cells)
    if prior is not None and prior.weight > 0 and (table[prior.table > 0] == 0).any():
        raise ValueError("a start must be positive wherever the prior is")
    search = iterates(fold, split, table, prior=prior, newton=prior is None)
    for fit in search:
        if progress is not None:
            progress(fit.passes, fit.gap)
        if fit.gap <= gap or fit.passes >= passes:
            break
    done = fit.gap <= gap
    why = "converged" if done else f"stopped after {fit.passes} passes"
    return replace(fit, reason=f"{why}: at most {fit.gap:.2g} to gain in the mean log-likelihood")


def iterates(
    fold: Fold, split: Split, start: Array, *, prior: Prior | None = None, newton: bool = False
) -> Iterator[Fit]:
    """Yield the tables of the accelerated iteration, the start first, without end; the objective never falls.

    Args:
        fold: over the reports.
        split: of the attributes.
        start: adding up to 1.
        prior: what the table is pulled towards.
        newton: whether Newton's steps may end the search; not with a prior.
    """
    run, table = _Run(fold, split, prior, users(fold), start > 0), start
    while True:
        first = run.step(table)
        yield Fit(table=table, gap=first.gap, passes=run.passes, log_likelihood=first.log_likelihood, reason="")
        moved = run.newton(table, first) if newton and first.gap < NEAR else None
        table = extrapolated(run.step, table, first) if moved is None else moved


def checked(start: Array, cells: int) -> Array:
    """Return a start scaled to add up to 1."""
    table = np.asarray(start, dtype=np.float64)
    if table.shape != (cells,) or not np.isfinite(table).all() or table.min() < 0 or table.sum() <= 0:
        raise ValueError(f"a start must be {cells} non-negative numbers, not all zero")
    return np.asarray(table / table.sum())


@dataclass(slots=True)
class _Run:
    """Counts the passes of one search."""

    fold: Fold
    split: Split
    prior: Prior | None
    reports: float
    allowed: Mask
    passes: int = 0

    def step(self, table: Array) -> Step:
        """Return the EM step from a table, with the gap over the cells that the start left open."""
        self.passes += 1
        em_step = step(self.fold, self.split, table, self.reports, self.prior)
        return replace(em_step, gap=max(float(em_step.slope[self.allowed].max()) - 1, 0.0))

    def newton(self, table: Array, first: Step) -> Array | None:
        """Return the table after a Newton step on few cells, None where it does not help; no allowed cell is shut."""
        cells = working_set(table, first.slope, self.allowed)
        if cells.size > LARGEST:
            return None
        curvature = information(self.fold, self.split, table, cells) / self.reports
        self.passes += 1
        shares = minimiser(curvature, first.slope[cells])
        if shares is None:
            return None
        target = OPEN * self.allowed / self.allowed.sum()
        target[cells] += (1 - OPEN) * shares / shares.sum()
        length = 1.0
        for _ in range(HALVINGS):
            moved = table + length * (target - table)
            if self.step(moved).objective >= first.objective - ROUNDING:
                return np.asarray(moved)
            length /= 2
        return None


def extrapolated(take: Callable[[Array], Step], table: Array, first: Step) -> Array:
    """Return the table after a SQUAREM step, or after two EM steps where that would lose what they gained.

    Args:
        take: an EM step from a table; called twice, or a few times more.
        table: where the search stands.
        first: the step from it.
    """
    second = take(first.table)
    change = first.table - table
    bend = second.table - first.table - change
    size = float(np.sqrt((change @ change) / max(float(bend @ bend), np.finfo(np.float64).tiny)))
    for _ in range(HALVINGS):
        if size <= 1:
            break
        far = table + 2 * size * change + size**2 * bend
        far = np.where(far > 0, far, SHRINK * second.table)
        third = take(far / far.sum())
        if third.objective >= second.objective:
            return third.table
        size = (size + 1) / 2
    return second.table
