"""Audit of noisy sums and chosen quantiles: what the noise hides, and what every choice loses, added up."""

from collections.abc import Iterator
from fractions import Fraction

from dpress.audit.checks import claimed_of, exact_check, relation_of
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.mechanisms.choice import approximate_quantiles_audit
from dpress.mechanisms.choice.approximate_quantiles_audit import quantiles_loss
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.linear.matrix_mechanism_audit import matrix_loss
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles


def exact(made: GroupQuantiles) -> Iterator[Check]:
    """Yield the exact checks of sums and choices, and of all together."""
    if made.groups is not None:
        yield from matrix_mechanism_audit.exact(made.groups)
    for chosen in made.chosen:
        yield from approximate_quantiles_audit.exact(chosen.choice)
    claimed = claimed_of(made)
    loss = added_loss(made, promised(claimed))
    yield exact_check("exact sum", "sums and choices", relation_of(made.unit), claimed, loss)


def sampled(made: GroupQuantiles, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of sums and choices."""
    if made.groups is not None:
        yield from matrix_mechanism_audit.sampled(made.groups, samples, rng=rng)
    for chosen in made.chosen:
        yield from approximate_quantiles_audit.sampled(chosen.choice, samples, rng=rng)


def added_loss(made: GroupQuantiles, bound: Fraction) -> ExactLoss:
    """Return what sums and choices lose together: the noise by its matrix, the choices by all their outcomes."""
    exact_losses = [
        quantiles_loss(quantiles.choice, promised(quantiles.choice.claim.proven)) for quantiles in made.chosen
    ]
    if made.groups is not None:
        exact_losses.append(matrix_loss(made.groups, promised(made.groups.claim.proven)))
    losses = [exact.loss for exact in exact_losses if exact.loss is not None]
    if len(losses) < len(exact_losses):
        return ExactLoss(loss=None, kept=False, remark="the noise of the sums hides nothing")
    return ExactLoss(loss=sum(losses, Fraction(0)), kept=sum(losses) <= bound, remark="the choices' as for one alone")
