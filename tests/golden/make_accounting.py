"""Makes accounting.json: prices from Google's dp-accounting, which pins attrs < 24 and so needs a venv of its own.

By hand, from this folder:

    python -m venv VENV && VENV/bin/pip install dp-accounting && VENV/bin/python make_accounting.py

Writes, for many (rho, delta), three values of epsilon: `renyi`, the RDP accountant on its default orders (valid for
every rho-zCDP mechanism, hence an upper bound of the best conversion); `gaussian`, the exact value for one Gaussian
mechanism with that rho (a rho-zCDP mechanism, hence a lower bound of every valid conversion); `pld`, the same Gaussian
by Google's PLD accountant, an independent and pessimistic computation of `gaussian`. And sums of pure epsilons.
"""

import json
import math
from importlib.metadata import version
from pathlib import Path

import dp_accounting
from dp_accounting import dp_event, pld, rdp

RHOS = ("0.0001", "0.001", "0.01", "0.05", "0.125", "0.5", "1", "2", "5", "20")
DELTAS = ("1e-12", "1e-9", "1e-6", "1e-5", "0.001", "0.01")
PURE = (["0.1"] * 10, ["0.5", "0.25", "0.125"], ["1", "2", "3"], ["0.05"] * 20, ["0.3"])


def conversion(rho: str, delta: str) -> dict[str, str | float]:
    accountant = rdp.RdpAccountant().compose(dp_event.ZCDpEvent(rho=float(rho)))
    sigma = math.sqrt(1 / (2 * float(rho)))
    losses = pld.PLDAccountant().compose(dp_event.GaussianDpEvent(sigma))
    return {
        "rho": rho,
        "delta": delta,
        "renyi": float(accountant.get_epsilon(float(delta))),
        "gaussian": float(dp_accounting.get_epsilon_gaussian(sigma, float(delta))),
        "pld": float(losses.get_epsilon(float(delta))),
    }


def pure_sum(epsilons: list[str]) -> dict[str, list[str] | float]:
    """Randomised response with two answers keeps epsilon exactly; at delta = 0 its PLD adds up."""
    losses = pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    for epsilon in epsilons:
        noise = 2 / (math.exp(float(epsilon)) + 1)
        losses.compose(dp_event.RandomizedResponseDpEvent(noise_parameter=noise, num_buckets=2))
    return {"epsilons": epsilons, "total": float(losses.get_epsilon(0.0))}


golden = {
    "made_by": f"dp-accounting {version('dp-accounting')}",
    "conversions": [conversion(rho, delta) for rho in RHOS for delta in DELTAS],
    "pure_sums": [pure_sum(epsilons) for epsilons in PURE],
}
Path(__file__).with_name("accounting.json").write_text(json.dumps(golden, indent=1) + "\n")
