"""The losses that a specification, a design and a ledger may name, read by the names of their parameters."""

from collections.abc import Mapping

from dpress.core.basics import check
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP

LOSSES: tuple[type[PureDP] | type[ZCDP] | type[GaussianDP] | type[ApproxDP], ...] = (PureDP, ZCDP, GaussianDP, ApproxDP)


def from_parameters(values: Mapping[str, check.Number]) -> Loss:
    """Return the loss that these parameter names describe: epsilon; rho; or epsilon and delta.

    Raises:
        ValueError: the names describe no loss.
    """
    for kind in LOSSES:
        if set(values) == set(kind.names):
            return kind(**values)
    names = " and ".join(sorted(values)) or "nothing"
    raise ValueError(f"a privacy loss is epsilon, or rho, or epsilon and delta; got {names}")
