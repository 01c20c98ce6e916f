"""Exact audit of noisy sums and chosen quantiles: what the noise hides, and what every choice loses, added up."""

from fractions import Fraction

from dpress.audit.exact import ExactLoss, matrix_loss, promised
from dpress.audit.exact_quantiles import quantiles_loss
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles


def added_loss(made: GroupQuantiles, bound: Fraction) -> ExactLoss:
    """Return what sums and choices lose together: the noise by its matrix, the choices by all their outcomes."""
    found = [quantiles_loss(one.choice, promised(one.choice.claim.proven)) for one in made.chosen]
    if made.groups is not None:
        found.append(matrix_loss(made.groups, promised(made.groups.claim.proven)))
    losses = [one.loss for one in found if one.loss is not None]
    if len(losses) < len(found):
        return ExactLoss(loss=None, kept=False, remark="the noise of the sums hides nothing")
    return ExactLoss(loss=sum(losses, Fraction(0)), kept=sum(losses) <= bound, remark="the choices' as for one alone")
