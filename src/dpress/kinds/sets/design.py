"""How devices are asked about sets of values: all values in one report, or groups of them."""

import msgspec

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.sets.attribute import SetMembers
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.sets.kind import Sets
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.sets.privset import Privset, best_groups, grouped
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.collections import check_silence, share
from dpress.release.plan.parameter_checks import expected_users, of_kind, of_methods

METHOD = "privset"


def choose(spec: Spec) -> Choice:
    """Return the ways to ask about all values at once, in the best groups, and one by one; the best is chosen.

    Raises:
        NotSupported: a table is published, or several attributes are released, or one without a list of values; or the
            budget is no epsilon.
        ValueError: a parameter is wrong, or values are dropped.
    """
    if spec.privacy.model != "local":
        raise NotSupported(
            '$.release.kind: "sets" asks devices (model = "local"); of a table, count one boolean attribute for each '
            'value, kind = "marginals" with ways = 1'
        )
    categorical = _categorical(spec)
    check_silence(spec)
    if spec.release.method not in ("auto", METHOD):
        raise NotSupported(f"$.release.method: {spec.release.method!r} counts no sets; {METHOD} does")
    if spec.release.postprocess:
        raise NotSupported("$.release.postprocess: counts of sets add up to nothing that is known; leave it out")
    of_methods(spec, {METHOD: Sets})
    parameters, loss, users = of_kind(spec, Sets), share(spec, "users"), expected_users(spec)
    attribute = _members(categorical, parameters.separator)
    values = attribute.size
    if parameters.cap > values:
        raise ValueError(f"{PLACE}.cap: expected at most {values}, as many as there are values, got {parameters.cap}")
    schema = Schema((attribute,))
    ways = {1, best_groups(values, parameters.cap, loss), values}
    made = [_collection(schema, grouped(values, parameters.cap, loss, groups)) for groups in ways]
    pairs = [Candidate(method=METHOD, mechanism=way, predicted_error=way.mean_variance(users)) for way in made]
    candidates = tuple(sorted(pairs, key=rank))
    return Choice(
        workload=Marginals(schema.shape, ((0,),)),
        schema=schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
    )


def _collection(schema: Schema, privset: Privset) -> Collection:
    return Collection(shape=schema.shape, types=privset.types, split="users", estimator=privset)


def _categorical(spec: Spec) -> Categorical:
    """Return the attribute whose values people hold sets of."""
    names, attribute = spec.schema.names, spec.schema.attributes[0]
    if len(names) > 1:
        raise NotSupported(
            f'$.release.attributes: kind = "sets" is of one attribute, which no table crosses with others; got '
            f"{', '.join(names)}"
        )
    listing = attribute.listing
    if listing is None or listing.in_order:
        kind = attribute.__struct_config__.tag
        raise NotSupported(f"$.attribute[{names[0]}].kind: sets are of values of a categorical attribute, got {kind}")
    if listing.hierarchy is not None:
        raise ValueError(f"$.attribute[{names[0]}].hierarchy: sets overlap, so that no group adds up; leave it out")
    return listing


def _members(categorical: Categorical, separator: str) -> SetMembers:
    names = [field.name for field in msgspec.structs.fields(categorical) if field.name != "hierarchy"]
    fields = {name: getattr(categorical, name) for name in names}
    try:
        return SetMembers(**fields, separator=separator)
    except ValueError as error:
        raise ValueError(f"$.attribute[{categorical.name}]: {str(error).partition(': ')[2]}") from None
