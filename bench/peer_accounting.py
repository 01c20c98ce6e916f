"""Google's privacy loss distributions of lists of discrete noise, for `accounting.py`; in an environment of its own.

python peer_accounting.py < lists.json > epsilons.json

Each list: {"gaussian": [[sigma2, sensitivity, times], ...], "laplace": [[scale, sensitivity, times], ...], "delta": d};
the answer has epsilon at delta by the pessimistic and by the optimistic distribution.
"""

import json
import math
import sys
from importlib.metadata import version
from typing import Any

from dp_accounting.pld import privacy_loss_distribution as pld

STEP = 1e-4  # of the losses


def composed(asked: dict[str, Any], *, pessimistic: bool) -> float:
    """Return epsilon of all noises of a list together."""
    makers = {
        "gaussian": lambda spread, sensitivity: pld.from_discrete_gaussian_mechanism(
            math.sqrt(spread), int(sensitivity), value_discretization_interval=STEP, pessimistic_estimate=pessimistic
        ),
        "laplace": lambda spread, sensitivity: pld.from_discrete_laplace_mechanism(
            1 / spread, int(sensitivity), value_discretization_interval=STEP, pessimistic_estimate=pessimistic
        ),
    }
    whole = None
    for kind, maker in makers.items():
        for spread, sensitivity, times in asked.get(kind, ()):
            part = maker(spread, sensitivity).self_compose(times)
            whole = part if whole is None else whole.compose(part)
    assert whole is not None
    return float(whole.get_epsilon_for_delta(asked["delta"]))


def main() -> None:
    """Read lists, write epsilons."""
    sides = {"pessimistic": True, "optimistic": False}
    answers = [
        {side: composed(asked, pessimistic=pessimistic) for side, pessimistic in sides.items()}
        for asked in json.load(sys.stdin)
    ]
    json.dump({"version": version("dp-accounting"), "step": STEP, "epsilons": answers}, sys.stdout)


if __name__ == "__main__":
    main()
