"""What the explanations state has evidence that exists, and the generated pages are those that the script writes."""

import importlib.util
from pathlib import Path

import pytest

import dpress
from dpress import catalog

pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
SCRIPT = "docs/hooks/write_explanations.py"


@pytest.fixture(scope="module")
def script():
    found = importlib.util.spec_from_file_location("write_explanations", ROOT / SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_every_piece_of_evidence_exists(script) -> None:
    evidence = list(script.pieces(script.told("hazards.yaml"), script.told("proofs.yaml")))
    assert len(evidence) > 50
    assert script.missing(evidence) == []


def test_made_up_evidence_is_found(script) -> None:
    real = "tests/meta/test_explanations.py::test_made_up_evidence_is_found"
    made_up = [f"{real}_not", "tests/meta/test_nothing.py::test_it", "docs/decisions/9999-nothing.md"]
    assert script.missing([real, *made_up]) == made_up


def test_every_proven_claim_has_an_argument_and_no_other(script) -> None:
    proofs = script.told("proofs.yaml")
    proven = {name for name, card in catalog.cards().items() if catalog.claims(card)[1] is not None}
    assert set(proofs["methods"]) == proven
    used = {key for keys in proofs["methods"].values() for key in keys}
    assert used == set(proofs["arguments"])


def test_every_method_has_tests_that_import_it(script) -> None:
    assert [name for name, card in catalog.cards().items() if not script.tests_for(card)] == []


def test_the_pages_are_what_the_script_writes(script) -> None:
    pages = script.pages()
    assert len(pages) == 6
    assert pages[script.API].count("\n| `") == len(dpress.__all__) - len(script.SENTENCES)
    for page, text in pages.items():
        assert text == (script.PAGES / page).read_text(encoding="utf-8"), f"run `python {SCRIPT}`"
