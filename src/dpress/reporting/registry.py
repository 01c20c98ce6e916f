"""The record of a release for the public registry of deployments of differential privacy, as YAML.

release -> the registry's fields, from the design and the claim -> text. What dpress cannot know is marked for a person.

The fields are those of the records at https://github.com/opendp/deployments-registry-data in autumn 2026.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpress import catalog
from dpress.core.basics import claim_words
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.query.release import Release

TODO = "TODO for a person: "
UNPRINTED = re.compile(
    "[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)  # what YAML wants escaped, and JSON does not


def write_registry(release: Release, path: str | Path) -> Path:
    """Write a release's record to a new file, which a person completes; return its path.

    Raises:
        NotSupported: see `record`.
        OSError: the file exists, or cannot be written.
    """
    text, place = as_yaml(record(release)), Path(path)
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OSError(f"{place} exists already; a record is never overwritten, choose another file") from None
    return place


def record(release: Release) -> dict[str, Any]:
    """Return the registry's fields; the loss is the proven one, rounded up, and none where nothing is proven.

    Raises:
        NotSupported: a seeded generator drew the noise, so that nothing was deployed.
    """
    if not release.private:
        raise NotSupported("the noise was drawn from a seeded generator: a test is no deployment to register")
    return {
        "url_slug": _todo("words of the name, the curator and the year, joined by hyphens"),
        "status": "Draft",
        "tier": _todo("1, 2 or 3, by how much of this record is complete"),
        "deployment": {
            "basic": _basic(release),
            "dp_variant": _variant(release),
            "privacy_loss": _loss(release),
            "deployment_model": _model(release),
            "accounting": _accounting(release),
            "implementation": _implementation(release),
            "administrative": _administrative(release),
        },
    }


def as_yaml(fields: Mapping[str, Any]) -> str:
    """Return nested fields as YAML: texts in double quotes, lists in brackets, floats as YAML 1.1 reads them, too.

    >>> print(as_yaml({"a": {"b": "x: y", "c": 1e-05}}), end="")
    a:
      b: "x: y"
      c: 1.0e-05
    """
    return "".join(f"{line}\n" for line in _lines(fields, ""))


def _lines(fields: Mapping[str, Any], before: str) -> Iterator[str]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield f"{before}{name}:{'' if value else ' {}'}"
            yield from _lines(value, before + "  ")
        else:
            yield f"{before}{name}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return re.sub(r"^(-?\d+)e", r"\1.0e", text)
    return UNPRINTED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _todo(what: str) -> str:
    return TODO + what


def _basic(release: Release) -> dict[str, Any]:
    words = release.design.specification["release"]
    names = ", ".join(attribute.caption for attribute in release.design.attributes)
    return {
        "name": str(words.get("title") or _todo("the name of the data product")),
        "data_curators": [
            {"data_curator_name": _todo("who holds the data"), "data_curator_type": _todo("Industry, Government, ...")}
        ],
        "intended_use": _todo("what the data product is for"),
        "data_product_type": "Synthetic data" if catalog.kind(release.kind).of_records else "Summary statistics",
        "data_product_region": _todo("the region of the people in the data"),
        "data_product_sector": _todo("the sector, such as Government or Technology"),
        "description": f"A release of the kind {release.kind}, of {names}."
        + (f" Source: {source}." if (source := words.get("source")) else ""),
        "publication_date": _todo(f"the date of publication; the release was made on {release.created[:10]}"),
    }


def _variant(release: Release) -> dict[str, Any]:
    proven, unit = release.claim.proven, release.claim.unit
    kinds = "; ".join(f"{attribute.caption} ({_kind(attribute)})" for attribute in release.design.attributes)
    number = ["The number of privacy units."] if unit.relation is Relation.REPLACE_ONE else []
    reports = ["The number of reports."] if release.design.local else []
    return {
        "variant_name": _todo(f"no loss is proven. {_stated(release)}") if proven is None else proven.variant,
        "data_domain": f"{'Reports of devices' if release.design.local else 'Rows'} with the attributes {kinds}"
        + (f", of which {where} holds." if (where := release.design.where) else "."),
        "unprotected_quantities": " ".join(
            [
                *number,
                *reports,
                *([f"{release.claim.given[0].upper()}{release.claim.given[1:]}."] if release.claim.given else []),
                _todo("what else was looked at in the data, such as for bounds, categories or parameters"),
            ]
        ),
    }


def _loss(release: Release) -> dict[str, Any]:
    claim = release.claim
    return {
        "privacy_unit": "Report-level" if release.design.local else "User-level" if claim.unit.column else "Row-level",
        "privacy_unit_details": _neighbours(claim.unit, local=release.design.local),
        "privacy_parameters": as_floats(claim.proven) or {},
        "privacy_parameters_details": f"Proven: {claim_words.words(claim)}. {_stated(release)}.",
    }


def _model(release: Release) -> dict[str, Any]:
    return {
        "model_name": "Local" if release.design.local else "Central",
        "actors": _todo("who holds, computes and reads what, and who trusts whom"),
        "release_type": _todo("One release, Multiple releases or Many releases; this record is of one"),
        "data_source_type": _todo("Static or Dynamic"),
        "access_type": "Non-interactive",
    }


def _accounting(release: Release) -> dict[str, Any]:
    adjusted = ", ".join(release.design.release["postprocess"]) or "none"
    head = release.ledger_head
    paid = f"a ledger, whose last entry then was {head}" if head else "no ledger"
    return {
        "post_processing": f"Adjustments that were asked for: {adjusted}.",
        "composition": f"{_sentence(release.claim.basis)} Charged: {describe(release.charged)}, to {paid}. "
        + _todo("other releases of the same data, and their loss"),
    }


def _implementation(release: Release) -> dict[str, Any]:
    unit, card = release.claim.unit, catalog.card(release.method)
    kept = f"Counts are of {unit.counted}, drawn at random before anything is counted. " if unit.counted else ""
    rivals = ", ".join(dict.fromkeys(candidate.method for candidate in release.design.prediction.candidates))
    return {
        "preprocessing_and_hyperparameter_tuning": kept + _todo("what was done to the data, and tuned on them, before"),
        "mechanisms": f"{release.method} ({card.paper}): {_sentence(card.summary)} "
        "Software: dpress; release.json has the version.",
        "justification": f"Compared in the plan by predicted error: {rivals}. "
        + _todo("why this loss, this unit and these attributes"),
    }


def _administrative(release: Release) -> dict[str, Any]:
    contact = release.design.specification["release"].get("contact")
    return {
        "sources": f"Design {release.design.id}. "
        + (f"Contact: {contact}. " if contact else "")
        + _todo("where release and documents are found"),
        "registry_authors": [_todo("who completed this record")],
    }


def _stated(release: Release) -> str:
    return f"Published for the method: {describe(release.claim.published)}"


def _kind(attribute: Any) -> str:
    return str(type(attribute).__struct_config__.tag)


def _neighbours(unit: Unit, *, local: bool) -> str:
    what = "one report" if local else f"the data of one {unit.name}" if unit.column else "one row"
    how = "replaced" if unit.relation is Relation.REPLACE_ONE else "added or removed"
    return f"Two data sets are neighbours if {what} is {how} ({unit.relation})."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
