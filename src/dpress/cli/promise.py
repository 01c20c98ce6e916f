"""What a command says of a promise: of one report, of all of them, proven or not."""

from dpress.core.claim import Claim, PureDP, describe
from dpress.mechanisms.protocol.collection import Collection


def promised(claim: Claim) -> str:
    """Return what a claim promises, and whether that is proven."""
    if claim.proven is not None or claim.published is None:
        return f"{describe(claim.proven)} (proven)"
    return f"{describe(claim.published)} (claimed, NOT proven)"


def lifetime_of(mechanism: object) -> PureDP | None:
    """Return what any number of reports of the same values lose together, None without a permanent response."""
    return mechanism.lifetime if isinstance(mechanism, Collection) else None


def beside(lifetime: PureDP | None) -> str:
    """Return the words that go beside the promise of one report: nothing without a permanent response."""
    if lifetime is None:
        return ""
    every = describe(lifetime).removeprefix("epsilon = ")
    return f", {every} for any number of reports of the same values, if the device keeps its secret"
