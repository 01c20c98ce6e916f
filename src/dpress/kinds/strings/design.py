"""Which rounds find strings that nobody listed, and how many must hold one."""

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.strings.kind import Strings
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.strings.pem import pem
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.collections import check_silence, share
from dpress.release.plan.parameter_checks import expected_users, of_kind, of_methods
from dpress.release.plan.strategies import check_discovered

UNIT = "counts squared, of a string that the last round alone counts"
METHOD = "pem"


def choose(spec: Spec) -> Choice:
    """Return the first round of the collection.

    Raises:
        NotSupported: a table is published, several attributes are released, or one whose values are listed; or the
            budget is no epsilon.
        ValueError: a parameter is wrong, or values are dropped.
    """
    if spec.privacy.model != "local":
        raise NotSupported(
            '$.release.kind: "strings" asks devices (model = "local"); of a table, kind = "names" releases them'
        )
    check_discovered(spec)
    check_silence(spec)
    if spec.release.method not in ("auto", METHOD):
        raise NotSupported(f"$.release.method: {spec.release.method!r} finds no strings; {METHOD} does")
    of_methods(spec, {METHOD: Strings})
    parameters, loss = of_kind(spec, Strings), share(spec, "users")
    first = pem(parameters.longest, parameters.kept, loss)
    schema = Schema(first.coded(spec.schema.tabular))
    collection = Collection(shape=schema.shape, types=first.types, split="users", estimator=first)
    users = expected_users(spec)
    only = Candidate(method=METHOD, mechanism=collection, predicted_error=first.mean_variance(users))
    return Choice(
        workload=Marginals(schema.shape, ((0,),)),
        schema=schema,
        candidates=(only,),
        chosen=only,
        lower_bound=0.0,
        users=users,
        unit=UNIT,
    )
