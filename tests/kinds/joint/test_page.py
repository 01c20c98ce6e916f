"""The page of a joint distribution: what is significant is named, what is not is called independent."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.kinds.conftest import joined
from tests.kinds.reading import text_of, undrawn
from tests.kinds.reading import text_of_page as text

from dpress.core.basics import rng
from dpress.inference.joint.contrast import covariance_contrast
from dpress.inference.joint.independence_tests import chi_square_tests
from dpress.kinds.joint import residuals
from dpress.kinds.joint.dependence import Pair, pairs
from dpress.kinds.joint.page import context, fit
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.reporting.facts import facts

pytestmark = pytest.mark.slow

WITHOUT_LINE = {"What an attacker can conclude", "What a family is promised", "Budget spent", "Provenance"}
AS_PUBLISHED = ("em", "lasso", "lremh")
METHODS = ("pairs", "rr_ldp", "em", "lasso", "lremh", "subset_selection")


def pairs_of(release: Release) -> list[Pair]:
    own = fit(release)
    return [] if own.joint is None else pairs(own.contrasts, own.joint, release.schema.names)


@pytest.fixture(scope="module")
def dependent() -> Release:
    return joined()


@pytest.fixture(scope="module")
def independent() -> Release:
    return joined(dependent=False)


def test_the_strongest_pair_is_named_and_comes_first(dependent: Release) -> None:
    shown = text(dependent)
    assert "Of 3 pairs 1 is significant, age × score most clearly. The others cannot be told from" in shown
    made = context(facts(dependent), fit(dependent), None)["findings"]
    assert replace(made, pairs=10, dependent=9).sentence.startswith("Of 10 pairs 9 are significant, age × score most")
    assert replace(made, dependent=2).sentence.endswith("The other one cannot be told from independence.")
    assert replace(made, dependent=3).sentence.endswith("all are significant, age × score most clearly.")
    assert pairs_of(dependent)[0].name == "age × score"
    assert shown.index("age × score significant") < shown.index("not distinguishable from independence")
    headings = re.findall(r"<h3[^>]*>([^<]*×[^<]*)</h3>", undrawn(dependent))
    assert headings[0] == "age × score"
    assert len(headings) == 3


def test_figures_of_pairs_stand_before_what_tests_them_and_each_fold_says_what_is_in_it(dependent: Release) -> None:
    html = undrawn(dependent)
    assert html.index("<caption>The pairs as a matrix") < html.index('id="pair-0-1"') < html.index("χ² per degree")
    folds = re.findall(r"<summary><h[23]>([^<]+)</h[23]>(?: <span class=\"note\">([^<]+)</span>)?</summary>", html)
    lines = {heading: line for heading, line in folds if heading not in WITHOUT_LINE}
    assert lines["age × score"].startswith("significant; ")
    assert lines["Every pair, tested"].startswith("1 of 3 significant")
    assert {"How to read them", "What is promised", "Synthetic records"} < set(lines)
    assert all(lines.values())


def test_where_nothing_is_significant_the_page_says_so(independent: Release) -> None:
    shown = text(independent)
    assert "No pair can be told from independence" in shown
    assert "Use the product of the one-way counts" in shown
    assert "× sex significant" not in shown
    assert "is significant, " not in shown
    assert shown.count("not distinguishable from independence") == 6  # of every pair, in its line and in the list


@pytest.mark.parametrize("dependence", [True, False])
def test_baseline_bias_and_model_error_are_always_named(
    dependence: bool,  # noqa: FBT001
    dependent: Release,
    independent: Release,
) -> None:
    shown = text(dependent if dependence else independent)
    for part in (
        "The baseline is the product of the one-way counts",
        "intervals and standard errors are those of the unbiased count",
        "It does not hold the error of the model: if three attributes go together in a way that pairs do not show",
        "No interval sees the error of the model. No device was asked about more than two attributes of the 3 together",
        "It takes the largest entropy".lower(),
        "100 synthetic records",
        "They are no sample of people",
    ):
        assert part in shown


def test_records_are_not_spoken_of_where_there_are_none(dependent: Release) -> None:
    assert "ynthetic records" not in text(replace(dependent, detail=replace(dependent.detail, records=0)))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_pair_and_says_how_it_was_fitted(method: str) -> None:
    release = joined(method=method, epsilon=8.0, parameters={"ways": 2} if method == "pairs" else {})
    found, said = pairs_of(release), text(release)
    assert (found[0].name, found[0].test.significant) == ("age × score", True)
    own = {"em": "EM", "lasso": "LASSO", "lremh": "LASSO", "rr_ldp": "likelihood", "pairs": "entropy"}
    assert own.get(method, "The table of all combinations is") in said
    assert ("errs by less" in said) == (method not in AS_PUBLISHED)
    assert ("may err by more" in said) == (method in AS_PUBLISHED)
    assert ("stopped early on purpose" in said) == (method == "rr_ldp")


def test_why_the_fit_stopped_survives_the_folder(tmp_path: Path) -> None:
    release = joined(method="rr_ldp", parameters={})
    loaded = load_release(release.write(tmp_path / "release"))
    assert loaded.answers.fitted.reason == release.answers.fitted.reason != ""
    assert undrawn(loaded) == undrawn(release)


@pytest.mark.slow
def test_the_report_type_is_a_pair_and_the_page_says_so(dependent: Release) -> None:
    shown = text(dependent)
    assert "How age, score and sex go together" in shown
    assert "which pair of attributes the report is about" in shown
    assert "two combinations of values of the pair of attributes asked for" in shown
    assert "one pair of attributes, drawn at random" in shown
    assert "over one or two of these attributes" in shown
    assert "the combination of all attributes, with the whole ε" in text(joined(parameters={"ways": 3}))
    assert "an equal part of ε for each" in text_of("local joint of bits")


def test_marked_cells_are_those_that_depend(dependent: Release) -> None:
    (first, *others) = pairs_of(dependent)
    assert first.significant.tolist() == np.ones((4, 4), dtype=bool).tolist()
    assert np.sign(first.contrast.residual).tolist() == (2 * np.eye(4) - 1).tolist()
    assert not any(pair.significant.any() for pair in others)
    view = next(one for one in facts(dependent).views if one.name == first.name)
    figure = residuals.figure(view, first, dependent.users)
    assert figure is not None
    assert (figure.facts["significant"], figure.facts["cells"]) == (16, 16)
    assert "Coloured are 16 of 16 cells" in text(dependent)


@pytest.mark.parametrize(("seed", "planted"), [(1, False), (2, True)])
def test_the_evidence_of_bits_keeps_its_level(seed: int, planted: bool) -> None:  # noqa: FBT001
    """With 400 collections of independent scores about 20 reach 5 %; 55 or more happen once in 1e-10."""
    words_, users, alarms = rng.seeded(seed), 300, 0
    for _ in range(400):
        bits = (words_.words(7 * users).reshape(7, users) >> np.uint64(63)).astype(float)
        if planted:
            bits[3] = np.where(np.arange(users) % 4, bits[3], bits[0])  # a quarter agree
        scores = bits - bits.mean(axis=1, keepdims=True)
        own = scores[:3] @ scores[:3].T / users, scores[3:] @ scores[3:].T / users
        contrast = covariance_contrast((0, 1), scores[:3] @ scores[3:].T / users, own, users)
        alarms += chi_square_tests([contrast])[0].significant
    assert (alarms >= 55) == planted


def test_a_release_without_a_joint_has_no_such_section() -> None:
    independent = joined(method="independent", parameters={})
    assert pairs_of(independent) == []
    assert context(facts(independent), fit(independent), None)["findings"] is None
    for shown in (text(independent), text_of("local")):
        assert "What goes together" not in shown
    assert "Counts by age, by score and by sex" in text(independent)
    assert "the product of these tables" in text(independent)


def test_the_matrix_of_pairs_leads_to_each(dependent: Release) -> None:
    html = undrawn(dependent)
    links = re.findall(r'<a href="#([\w-]+)"[^>]*aria-label="([^"]+)"', html)
    names = [name.split(":")[0] for _, name in links]
    assert names == ["age × score", "age × sex", "score × sex"]
    for target, name in links:
        head = r"<details[^>]*>\s*<summary><h3>([^<]*)</h3>[^/]*</span></summary>"
        part = re.search(rf'{head}\s*<div id="{target}">', html)
        assert part is not None
        assert part[1] == name.split(":")[0]
    assert links[0][1].endswith(" %, significant")
    assert not links[2][1].endswith("significant")
