"""The budget that `values = "discover"` asks of every kind: epsilon and a delta that is small for so many people."""

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP, approximate
from dpress.data.specification.spec import Spec
from dpress.release.plan.parameter_checks import expected_users

USERS_TIMES = 10  # delta is at most one in so many times the users


def loss_of(spec: Spec, needing: str = 'values = "discover"') -> ApproxDP:
    """Return the budget of a specification that discovers names.

    Args:
        spec: the specification.
        needing: what of it needs that budget.

    Raises:
        NotSupported: devices are asked, or the budget has no delta.
        ValueError: delta is too large for so many users.
    """
    users = expected_users(spec)
    if spec.privacy.model == "local":
        raise NotSupported(f'$.privacy.model: {needing} needs a table: model = "central"')
    refusal = f"$.privacy.delta: {needing} needs epsilon and delta; without delta no name could ever be released"
    loss = approximate(spec.privacy.loss, refusal)
    if loss.delta * USERS_TIMES * users > 1:
        raise ValueError(
            f"$.privacy.delta: expected at most 1 / ({USERS_TIMES} x users) = {1 / (USERS_TIMES * users):g} for "
            f"users = {users:,} in [release.parameters], got {float(loss.delta):g}"
        )
    return loss
