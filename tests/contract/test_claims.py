"""Every claim is the loss that matrix, noise, relation and rows per unit give, exactly."""

from types import ModuleType
from typing import Any

import pytest

from dpress import catalog
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import parameters
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.mechanism import Card

APPROXIMATE = ApproxDP(epsilon=1, delta=1e-6)
UNPROVEN = ("psda", "dp_k_prototypes", "mdav")
"""psda hides users within their regions, and a report names the region; the groups of the others show the records."""


def test_a_linear_claim_is_derived_from_what_the_sampler_uses(checks: ModuleType, linear_cases: Any) -> None:
    for case, mechanism in linear_cases:
        one = checks.seen(mechanism)
        assert checks.claim_is_derived(one), case
        assert mechanism.claim.proven == mechanism.claim.published == case.loss, case
        assert mechanism.claim.unit == case.unit, case


def test_a_choices_claim_is_the_loss_it_was_made_for(choice_cases: Any) -> None:
    for case, mechanism in choice_cases:
        assert mechanism.claim.proven == case.loss, case
        assert mechanism.claim.unit == case.unit, case
        assert mechanism.unit_sensitivity == mechanism.sensitivity * case.unit.rows, case


def test_the_basis_names_every_noise_parameter(linear_cases: Any) -> None:
    for case, mechanism in linear_cases:
        for noise in mechanism.noises:
            number = noise.scale if hasattr(noise, "scale") else noise.sigma2
            assert f"{number} against" in mechanism.claim.basis, case


def test_every_method_supports_a_loss_and_the_catalogue_says_which(checks: ModuleType, card: Card) -> None:
    supported = []
    for loss in (*checks.LOSSES, APPROXIMATE):
        try:
            card.example(loss, ROW)
        except NotSupported:
            continue
        supported.append(" and ".join(parameters(loss)))
    assert supported
    published, proven = catalog.claims(card)
    assert published == ", ".join(supported)
    assert proven == (None if card.name in UNPROVEN else published)


def test_a_loss_that_no_noise_is_calibrated_to_is_refused(card: Card) -> None:
    refused = PureDP(epsilon=1) if card.family == "selection" or card.name == "discovered_groups" else APPROXIMATE
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        card.example(refused, ROW)


def test_the_examples_are_no_trivial_ones(checks: ModuleType, linear_cases: Any) -> None:
    """The checks would hold for a map of one cell whatever its claim says about pairs."""
    for case, mechanism in linear_cases:
        one = checks.seen(mechanism)
        assert one.map.cells >= 8, case
        assert len(checks.changes(one)) >= one.map.cells, case
