"""What an (epsilon, delta) promise costs in variance: ours, through rho, and Google's privacy loss distributions.

python bench/accounting.py [PYTHON] > accounting.json

PYTHON is that of an environment with dp-accounting, which pins attrs < 24: `python -m venv V; V/bin/pip install
dp-accounting`, then V/bin/python; left out, its figures are null. All is computed, nothing drawn.

`single`: one answer of squared L2 sensitivity s: the variance of our noise, and of noise by rho, over that of the
analytic Gaussian mechanism. `releases`: k equal releases of counts that fill a ledger of epsilon = 1, delta = 1e-6:
their variance, that through one conversion of rho, and for the list of noises, fixed beforehand, Google's pessimistic
and optimistic epsilon; a ledger that lets releases be chosen cannot state less than the optimistic one. `seconds`: to
price 1,000 entries, all together and after each of them.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.gaussian_dp import GaussianDP, normal_variance
from dpress.core.basics.losses.gaussian_profile import mu2_for
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.ledger.compose import Charge, fits, total, totals
from machine import facts

LIMIT = ApproxDP(epsilon=1, delta=1e-6)
RELEASES = (1, 2, 5, 10, 30)
SINGLES = [(epsilon, delta, s) for epsilon in ("0.1", "1", "3") for delta in ("1e-9", "1e-6") for s in (1, 4, 100)]
ENTRIES = 1000
HALVINGS = 40

Losses = Callable[[Fraction, int], list[Loss]]
"""The losses of k releases of counts, each with this variance, or as near to it as its noise is."""


def gaussian(variance: Fraction) -> GaussianDP:
    """Return what one count with this variance costs."""
    return GaussianDP(mu2=1 / normal_variance(variance))


def laplace(variance: Fraction) -> PureDP:
    """Return what one count with real Laplace noise of this variance costs, to 12 digits."""
    return PureDP(epsilon=Fraction(round((2 / float(variance)) ** 0.5 * 10**12), 10**12))


def rho(variance: Fraction) -> ZCDP:
    """Return what one count with this variance costs in rho."""
    return ZCDP(rho=1 / (2 * variance))


def mixed(first: Callable[[Fraction], Loss]) -> Losses:
    """Return what alternates between two noises, beginning with `first`."""
    return lambda variance, number: [(first, laplace)[place % 2](variance) for place in range(number)]


SEQUENCES: dict[str, tuple[Losses, Losses]] = {
    "Gaussian": (lambda v, k: [gaussian(v)] * k, lambda v, k: [rho(v)] * k),
    "Laplace": (lambda v, k: [laplace(v)] * k, lambda v, k: [laplace(v)] * k),
    "mixed": (mixed(gaussian), mixed(rho)),
    "Laplace, then Gaussian": (
        lambda v, k: [laplace(v)] * (k // 2) + [gaussian(v)] * (k - k // 2),
        lambda v, k: [laplace(v)] * (k // 2) + [rho(v)] * (k - k // 2),
    ),
}
"""By name: the losses as they are charged, and as they were where Gaussian noise was charged in rho."""


def least_variance(losses: Losses, number: int) -> Fraction:
    """Return the least variance at which so many releases fit the limit."""

    def fit(variance: Fraction) -> bool:
        return fits(total([Charge(loss=loss) for loss in losses(variance, number)], LIMIT, Unit()), LIMIT)

    low, high = Fraction(1), Fraction(10**6)
    for _ in range(HALVINGS):
        middle = Fraction(round((low * high) ** 0.5 * 10**6), 10**6) if high > 1.0001 * low else (low + high) / 2
        low, high = (low, middle) if fit(middle) else (middle, high)
    return high


def single(epsilon: str, delta: str, square: int) -> dict[str, Any]:
    """Return the variances of one answer over that of the analytic Gaussian mechanism."""
    budget = ApproxDP(epsilon=epsilon, delta=delta)
    analytic = square / mu2_for(budget.epsilon, budget.delta)
    ours = budget.payable[1].spread(Fraction(square))
    by_rho = square / (2 * zcdp_for(budget.epsilon, budget.delta))
    ratios = {"ours": float(ours / analytic), "rho": float(by_rho / analytic)}
    return {"epsilon": epsilon, "delta": delta, "squared_sensitivity": square, "analytic": float(analytic), **ratios}


def noises(losses: Sequence[Loss]) -> dict[str, Any]:
    """Return the noises of counts as `peer_accounting` takes them."""
    kinds: dict[str, dict[float, int]] = {"gaussian": {}, "laplace": {}}
    for loss in losses:
        spreads = kinds[loss.tail]
        spread = float(loss.spread(Fraction(1)))
        spreads[spread] = spreads.get(spread, 0) + 1
    listed = {kind: [[spread, 1, times] for spread, times in spreads.items()] for kind, spreads in kinds.items()}
    return {**listed, "delta": float(LIMIT.delta)}


def releases() -> list[dict[str, Any]]:
    """Return for every sequence and number of releases the least variance, ours and through rho."""
    rows = []
    for name, (ours, before) in SEQUENCES.items():
        for number in RELEASES:
            variance, by_rho = least_variance(ours, number), least_variance(before, number)
            row = {"sequence": name, "releases": number, "variance": float(variance), "through_rho": float(by_rho)}
            rows.append({**row, "ratio": float(variance / by_rho), "noises": noises(ours(variance, number))})
    return rows


def peer(python: str | None, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return Google's epsilons of the lists, or None where there is no such Python."""
    if python is None:
        return None
    program = Path(__file__).with_name("peer_accounting.py")
    asked = json.dumps([row["noises"] for row in rows])
    done = subprocess.run([python, str(program)], input=asked, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def seconds() -> dict[str, float]:
    """Return how long 1,000 different entries take, half of them pure, half Gaussian."""
    kinds: tuple[Callable[[int], Loss], ...] = (
        lambda n: PureDP(epsilon=Fraction(1, 2000 + n)),
        lambda n: GaussianDP(mu2=Fraction(1, 30_000 + n)),
    )
    losses = [kinds[n % 2](n) for n in range(1, ENTRIES + 1)]
    charges, taken = [Charge(loss=loss) for loss in losses], {}
    for name, price in (("together", total), ("after each", lambda *rest: list(totals(*rest)))):
        start = time.perf_counter()
        price(charges, LIMIT, Unit())
        taken[name] = time.perf_counter() - start
    return taken


def main() -> None:
    """Print all figures."""
    rows = releases()
    answer = peer(sys.argv[1] if len(sys.argv) > 1 else None, rows)
    for row, epsilons in zip(rows, answer["epsilons"] if answer else [None] * len(rows), strict=True):
        row["epsilon_of_the_list"] = epsilons
    report = {"single": [single(*case) for case in SINGLES], "releases": rows, "seconds": seconds()}
    peer_version = {key: value for key, value in (answer or {}).items() if key != "epsilons"}
    print(json.dumps({"machine": facts(), "dp_accounting": peer_version or None, **report}, indent=1))


if __name__ == "__main__":
    main()
