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
    asked = _asked(spec)
    check_silence(spec)
    if spec.release.method not in ("auto", METHOD):
        raise NotSupported(f"$.release.method: {spec.release.method!r} counts no sets; {METHOD} does")
    if spec.release.postprocess:
        raise NotSupported("$.release.postprocess: counts of sets add up to nothing that is known; leave it out")
    of_methods(spec, {METHOD: Sets})
    own, loss, users = of_kind(spec, Sets), share(spec, "users"), expected_users(spec)
    attribute = _members(asked, own.separator)
    values = attribute.size
    if own.cap > values:
        raise ValueError(f"{PLACE}.cap: expected at most {values}, as many as there are values, got {own.cap}")
    schema = Schema((attribute,))
    ways = {1, best_groups(values, own.cap, loss), values}
    made = [_collection(schema, grouped(values, own.cap, loss, groups)) for groups in ways]
    pairs = [Candidate(method=METHOD, mechanism=one, predicted_error=one.mean_variance(users)) for one in made]
    candidates = tuple(sorted(pairs, key=rank))
    return Choice(
        workload=Marginals(schema.shape, ((0,),)),
        schema=schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
    )


def _collection(schema: Schema, own: Privset) -> Collection:
    return Collection(shape=schema.shape, types=own.types, split="users", estimator=own)


def _asked(spec: Spec) -> Categorical:
    """Return the attribute whose values people hold sets of."""
    names, found = spec.schema.names, spec.schema.attributes[0]
    if len(names) > 1:
        raise NotSupported(
            f'$.release.attributes: kind = "sets" is of one attribute, which no table crosses with others; got '
            f"{', '.join(names)}"
        )
    listing = found.listing
    if listing is None or listing.in_order:
        kind = found.__struct_config__.tag
        raise NotSupported(f"$.attribute[{found.name}].kind: sets are of values of a categorical attribute, got {kind}")
    if listing.hierarchy is not None:
        raise ValueError(f"$.attribute[{found.name}].hierarchy: sets overlap, so that no group adds up; leave it out")
    return listing


def _members(asked: Categorical, separator: str) -> SetMembers:
    own = {one.name: getattr(asked, one.name) for one in msgspec.structs.fields(asked) if one.name != "hierarchy"}
    try:
        return SetMembers(**own, separator=separator)
    except ValueError as error:
        raise ValueError(f"$.attribute[{asked.name}]: {str(error).partition(': ')[2]}") from None
