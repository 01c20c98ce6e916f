"""Audits of methods that make records find planted faults, each in what it is about, and leave honest ones alone."""

import dataclasses
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.noise.noisy_max import report_noisy_max_probabilities

from dpress import catalog
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.audit import powers, run
from dpress.audit.exact import promised
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.choice import exponential_audit
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.microdata import graphical_audit
from dpress.mechanisms.microdata.documents import insensitive_microaggregation_audit, per_record_audit
from dpress.mechanisms.microdata.documents.insensitive_microaggregation import InsensitiveMicroaggregation
from dpress.mechanisms.microdata.documents.per_record import PerRecord
from dpress.mechanisms.microdata.graphical import Graphical
from dpress.noise.laplace import DiscreteLaplace

ONE, HALF = PureDP(epsilon=1), ZCDP(rho="0.5")
TENTH_MORE = Fraction(11, 10)
UNITS = [Unit(relation=one, column=None if rows == 1 else "person", rows=rows) for one in Relation for rows in (1, 3)]


def example(name: str, loss: Any = ONE, unit: Unit | None = None) -> Any:
    return catalog.card(name).example(loss, unit or Unit())


def fields(made: Any) -> dict[str, Any]:
    return {one.name: getattr(made, one.name) for one in dataclasses.fields(made)}


def test_logs_of_ratios_are_exact_for_powers_and_bounded_above_for_others() -> None:
    one, x = Fraction(1), Fraction(1, 3)
    assert powers.log_ratio({3: one, 4: one}, {1: one, 2: one}, x) == Fraction(2, 3)
    assert powers.log_ratio({0: one}, {0: one}, x) == 0
    found = powers.log_ratio({0: one, 1: one}, {0: one}, x)
    assert math.isclose(found, math.log1p(math.exp(-1 / 3)), rel_tol=1e-12)
    assert powers.times({1: one, 0: one}, {1: -one, 0: one}) == {0: 1, 2: -1}


# One record.


def test_the_channel_of_a_number_is_that_of_its_sampler() -> None:
    made = example("per_record")
    column, draws = made.columns[0], 40_000
    found = per_record_audit.probabilities(made, column)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for code in (0, 2):
        records = np.stack([np.full(draws, code), np.zeros(draws)]).astype(np.int32)
        drawn = np.bincount(made.perturbed(records, rng=rng.seeded(code))[0], minlength=column.size) / draws
        assert np.abs(drawn - found[code]).max() < 5 * np.sqrt(0.25 / draws)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_number_alone_spends_exactly_epsilon(unit: Unit) -> None:
    only = columns([Integer(name="x", bounds=(0, 3))])
    made = PerRecord(columns=only, loss=ONE, users=2, unit=unit)
    assert per_record_audit.record_loss(made).loss == 1
    assert per_record_audit.record_loss(made).kept


class Loud(PerRecord):
    """Noise for a tenth more."""

    def noise(self, column: Any) -> DiscreteLaplace:
        return DiscreteLaplace(scale=PerRecord.noise(self, column).scale / TENTH_MORE)


class Talkative(PerRecord):
    """Keeps a category a little too often."""

    def kept(self, column: Any) -> Fraction:
        return PerRecord.kept(self, column) * Fraction(101, 100)


class Parallel(PerRecord):
    """Gives every value the whole epsilon, as the document does."""

    @property
    def share(self) -> Fraction:
        return self.loss.epsilon

    @property
    def claim(self) -> Any:
        return PerRecord(columns=self.columns, loss=self.loss, users=self.users, unit=self.unit).claim


class Forgetful(Parallel):
    """Divides among the values, and forgets that a person has several records."""

    @property
    def share(self) -> Fraction:
        return self.loss.epsilon / len(self.columns)


@pytest.mark.parametrize(
    ("fault", "unit", "loss"),
    [(Loud, Unit(), 1.05), (Talkative, Unit(), None), (Parallel, Unit(), 2), (Forgetful, UNITS[1], 3)],
)
def test_faults_in_a_record_are_caught(fault: Any, unit: Unit, loss: float | None) -> None:
    honest = example("per_record", unit=unit)
    assert per_record_audit.record_loss(honest).kept
    found = per_record_audit.record_loss(fault(**fields(honest)))
    assert not found.kept
    assert loss is None or math.isclose(found.loss or 0, loss, rel_tol=0.01)


# Groups.


def test_wins_are_those_of_report_noisy_max() -> None:
    for counts in ((0, 2), (1, 1), (3, 1, 0)):
        r = math.exp(-0.5)
        found = [sum(float(c) * r**n for n, c in one.items()) for one in powers.wins(counts)]
        wanted = report_noisy_max_probabilities(np.array(counts), epsilon=1, sensitivity=1)
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_groups_keep_their_claim_on_all_tiny_tables(unit: Unit) -> None:
    made = insensitive_microaggregation_audit.tiny(example("insensitive_microaggregation", unit=unit))
    found = insensitive_microaggregation_audit.grouped_loss(made)
    assert found.kept
    assert Fraction(1, 2) < (found.loss or 0) <= 1


class OneGroup(InsensitiveMicroaggregation):
    """Noise as if one group changed, where every group does."""

    def noise(self, column: Any) -> DiscreteLaplace:
        return DiscreteLaplace.calibrate(epsilon=self.share, l1_sensitivity=2 * column.span)


class OneMode(InsensitiveMicroaggregation):
    """Every group's mode with the whole share."""

    @property
    def mode_epsilon(self) -> Fraction:
        return self.share


class Sensitive(InsensitiveMicroaggregation):
    """Groups made of the records' own distances from their mean, as microaggregation has it."""

    def places(self, codes: Any) -> Any:
        centred = codes[0] - codes[0].mean() + 0.01 * codes[1]
        return np.argsort(np.abs(centred) + 0.2 * codes[1] * np.sign(centred.sum() + 0.05), kind="stable")


class OneAttribute(InsensitiveMicroaggregation):
    """Attributes composed in parallel."""

    @property
    def share(self) -> Fraction:
        return self.loss.epsilon

    @property
    def claim(self) -> Any:
        return InsensitiveMicroaggregation(
            **fields(self),
        ).claim


@pytest.mark.parametrize("fault", [OneGroup, OneMode, Sensitive, OneAttribute])
def test_faults_in_groups_are_caught(fault: Any) -> None:
    made = insensitive_microaggregation_audit.tiny(example("insensitive_microaggregation"))
    found = insensitive_microaggregation_audit.grouped_loss(fault(**fields(made)))
    assert not found.kept
    assert (found.loss or 0) > 1


# Choices and rounds.


@pytest.mark.parametrize("loss", [ONE, HALF], ids=["epsilon", "rho"])
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_rounds_spend_exactly_what_is_claimed(loss: Any, unit: Unit) -> None:
    made = example("graphical", loss, unit)
    assert graphical_audit.spent(made).loss == promised(loss)
    assert graphical_audit.score_loss(made).loss == made.choice.epsilon
    parts = graphical_audit.rounds(made)
    assert len(parts) == made.choices
    everything = replace(made, rounds=len(made.pairs))
    assert graphical_audit.spent(everything).loss == promised(loss)
    ((nothing, pairs),) = graphical_audit.rounds(everything)
    assert nothing is None
    checks = [one for table in (made.first, pairs) for one in matrix_mechanism_audit.exact(table)]
    for choice, table in parts:
        checks += [*exponential_audit.exact(choice), *matrix_mechanism_audit.exact(table)]  # type: ignore[arg-type]
    assert len(checks) == 2 + 2 * made.choices
    assert all(one.kept for one in checks)


class Insensitive(Graphical):
    """Forgets that a replaced record changes two cells."""

    @property
    def sensitivity(self) -> int:
        return self.unit.rows


class Generous(Graphical):
    """Measures pairs with all that the one-way tables leave, as if choices were free."""

    @property
    def tables(self) -> Any:
        return type(self.loss)(**{next(iter(self.loss.__slots__)): (1 - self.one_way) * promised(self.loss)})


class Louder(Graphical):
    """Measures all pairs with a tenth more than is left."""

    @property
    def tables(self) -> Any:
        own: Any = Graphical(**fields(self)).tables
        return type(own)(**{name: getattr(own, name) * TENTH_MORE for name in own.__slots__})


def test_faults_in_rounds_are_caught() -> None:
    replaced = Insensitive(**fields(example("graphical", unit=Unit(relation=Relation.REPLACE_ONE))))
    found = graphical_audit.score_loss(replaced)
    assert not found.kept
    assert found.loss == 2 * replaced.choice.epsilon
    for loss in (ONE, HALF):
        generous = Generous(**fields(example("graphical", loss)))
        assert not graphical_audit.spent(generous).kept
        louder = Louder(**fields(example("graphical", loss)) | {"rounds": 3})
        assert not louder.choices
        assert not graphical_audit.spent(louder).kept


def test_offers_that_do_not_add_up_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = graphical_audit.offers
    monkeypatch.setattr(graphical_audit, "offers", lambda *given: [TENTH_MORE * one for one in real(*given)])
    assert not graphical_audit.spent(example("graphical")).kept


# The audit as a whole, and the code as it runs.


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("per_record", {"exact channel"}),
        ("insensitive_microaggregation", {"exact groups"}),
        ("graphical", {"exact matrix", "exact choice", "exact scores", "exact sum"}),
    ],
)
def test_each_is_checked_under_every_relation_and_for_one_and_three_rows(name: str, kinds: set[str]) -> None:
    found = run.audit(catalog.card(name), ONE, rng=rng.seeded(1))
    assert {one.kind for one in found.checks} == kinds
    assert len({one.relation for one in found.checks}) == 4
    assert found.kept


class Leaky(PerRecord):
    """States an honest channel, and reports one category as it is."""

    def perturbed(self, codes: Any, *, rng: Any) -> Any:
        out = PerRecord.perturbed(self, codes, rng=rng)
        out[1] = np.where(codes[1] == 2, 2, out[1])
        return out


class Quiet(InsensitiveMicroaggregation):
    """States honest noise, and draws none."""

    def aggregated(self, codes: Any, *, rng: Any) -> Any:
        louder = replace(InsensitiveMicroaggregation(**fields(self)), loss=PureDP(epsilon=20))
        return louder.aggregated(codes, rng=rng)


@pytest.mark.slow
def test_code_that_does_something_else_than_it_states_is_found_by_samples() -> None:
    groups: Any = (insensitive_microaggregation_audit, Quiet, 3000)
    for audited, fault, samples in ((per_record_audit, Leaky, 20_000), groups):
        honest = example(audited.__name__.rpartition(".")[2].removesuffix("_audit"))
        made = fault(**fields(honest))
        assert [one.kept for one in audited.exact(made)] == [True]
        assert [one.verdict for one in audited.sampled(made, samples, rng=rng.seeded(2))] == ["VIOLATED"]
        assert all(one.kept for one in audited.sampled(honest, samples, rng=rng.seeded(2)))
        assert [one.kept for one in audited.exact(honest)] == [True]
