"""What holds of any loss by its protocol alone: its words, its parameters, how several add up and one is shared out."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TypeVar

from dpress.core.basics import check
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss

AnyLoss = TypeVar("AnyLoss", bound=Loss)
NORMS = {1: "L1", 2: "squared L2"}  # in which a sensitivity is, by the order of a loss


def parameters(loss: Loss) -> dict[str, Fraction]:
    """Return the loss's parameters by name, e.g. `{"epsilon": Fraction(1, 2)}`."""
    return {name: getattr(loss, name) for name in loss.names}


def composed(losses: Sequence[AnyLoss]) -> AnyLoss:
    """Return the loss of several mechanisms on one table, chosen adaptively: parameters of one kind add up.

    Raises:
        ValueError: there are none, or they are not of one kind.
    """
    kinds = {type(loss) for loss in losses}
    if len(kinds) != 1:
        raise ValueError(f"only losses of one kind add up, got {sorted(kind.__name__ for kind in kinds)}")
    return losses[0].together(losses[1:])


def part_of(loss: AnyLoss, share: Fraction) -> AnyLoss:
    """Return a share of a loss that noise and choices are calibrated to.

    Raises:
        NotSupported: neither sums nor choices are calibrated to it.
    """
    return loss.of(share * loss.amount)


def additive(loss: AnyLoss, what: str) -> AnyLoss:
    """Return a loss that noise and choices are calibrated to.

    Args:
        loss: any.
        what: is calibrated to it, with its verb: "additive noise is".

    Raises:
        NotSupported: neither sums nor choices are calibrated to it.
        ValueError: it is no loss.
    """
    if not hasattr(loss, "additive") or isinstance(loss, type):
        raise ValueError(f"{what} calibrated to a privacy loss, such as PureDP(epsilon=1), got {loss!r}")
    if not loss.additive:
        raise NotSupported(f"{what} calibrated to epsilon or rho, got {describe(loss)}")
    return loss


def power_of(loss: Loss) -> int:
    """Return the power of a share of the loss that the variance of noise falls with: 2 (Laplace), or 1 (Gaussian)."""
    return 2 // loss.order


def as_floats(loss: Loss | None) -> dict[str, float] | None:
    """Return the loss for people and JSON: floats rounded up, None where nothing is claimed."""
    return None if loss is None else {name: check.float_up(value) for name, value in parameters(loss).items()}


def describe(loss: Loss | None) -> str:
    """Return the loss in the field's short notation, e.g. `epsilon = 1` or `rho = 0.5`."""
    return (
        "nothing"
        if loss is None
        else ", ".join(f"{name} = {_shown(value)}" for name, value in parameters(loss).items())
    )


def _shown(value: Fraction) -> str:
    up = Context(prec=6, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(up):.6g}"
