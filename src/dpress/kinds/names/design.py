"""How likely a name is released, and how wrong its count is: decided by the budget alone."""

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.names.kind import Names
from dpress.mechanisms.selection.above_threshold import TOTAL_SHARE
from dpress.mechanisms.selection.best_selection import METHODS, selections
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.discovery_loss import loss_of
from dpress.release.plan.parameter_checks import expected_users, of_kind, of_methods
from dpress.release.plan.strategies import check_discovered

UNIT = "counts squared, of a released name"


def choose(spec: Spec) -> Choice:
    """Return the methods that release the names of one attribute; first the one that finds most names.

    Raises:
        NotSupported: devices are asked, several attributes are released, or one whose values are listed; the budget has
            no delta; or the method cannot keep it.
        ValueError: delta is too large for so many users, or a parameter is wrong.
    """
    loss = loss_of(spec, 'kind = "names"')
    check_discovered(spec)
    if spec.release.method not in ("auto", *METHODS):
        raise NotSupported(f"$.release.method: {spec.release.method!r} releases no names; {' and '.join(METHODS)} do")
    arguments = of_methods(spec, {name: catalog.card(name).parameters for name in METHODS})
    offered = arguments if spec.release.method == "auto" else [spec.release.method]
    total, minimum = loss.epsilon * TOTAL_SHARE, of_kind(spec, Names).minimum
    mechanisms = selections(loss, spec.privacy.protected, total, offered=offered, minimum=minimum or 0)
    candidates = tuple(
        Candidate(method=name, mechanism=mechanism, predicted_error=mechanism.variance)
        for name, mechanism in mechanisms.items()
    )
    return Choice(
        workload=Marginals(spec.schema.shape, ((0,),)),
        schema=spec.schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=expected_users(spec),
        unit=UNIT,
    )
