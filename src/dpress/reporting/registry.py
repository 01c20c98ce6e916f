"""The record of a release for the public registry of deployments of differential privacy: what dpress knows, derived.

release -> claim, design -> fields by the registry's names; what only a person knows says so -> YAML.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpress.core.claim import ZCDP, ApproxDP, Loss, PureDP, Relation, Unit, as_floats, describe
from dpress.core.errors import NotSupported
from dpress.release.release import Release

TODO = "TODO: "
"""What begins the fields that a person has to write."""
VARIANTS = {PureDP: "Pure DP", ApproxDP: "Approximate DP", ZCDP: "Zero-Concentrated DP"}
Record = Mapping[str, Any]


def record(release: Release) -> Record:
    """Return the fields of a release, nested and in the registry's order.

    Args:
        release: just published, or loaded.

    Raises:
        NotSupported: a seeded generator drew the noise, so that nobody is protected, or nothing is promised.
    """
    claim = release.claim
    if not release.private:
        raise NotSupported("a seeded release protects nobody: there is nothing to register")
    stated = claim.proven if claim.proven is not None else claim.published
    if stated is None:
        raise NotSupported(f"{release.method} promises nothing: there is nothing to register")
    asked = release.design.specification.get("release", {})
    local, source = release.design.local, asked.get("source") or "no source is stated"
    known = "proven" if claim.proven is not None else "claimed by its paper, NOT proven for this code"
    return {
        "status": "Draft",
        "deployment": {
            "basic": {
                "name": asked.get("title") or TODO + "a title for readers",
                "data_curator": TODO + "who holds the data and publishes",
                "description": f"{TODO}what the product is; dpress knows: {_contents(release)}",
                "intended_use": TODO + "what it is published for",
                "data_product_type": f"kind = {release.kind}",
                "data_product_region": TODO + "where the people are",
                "data_product_sector": TODO + "such as health or statistics",
                "publication_date": release.created[:10],
            },
            "dp_variant": {
                "name": VARIANTS[type(stated)],
                "data_domain": f"{TODO}whose rows these are; dpress knows: {source}",
                "unprotected_quantities": _unprotected(claim.unit, local=local),
            },
            "privacy_loss": {
                "privacy_unit": claim.unit.column or ("device" if local else "row"),
                "privacy_unit_description": _protected(claim.unit, local=local),
                "privacy_parameters": as_floats(stated),
                "privacy_parameters_description": f"{describe(stated)}, {known}, for this release alone",
            },
            "deployment_model": {
                "model_name": "Local" if local else "Central",
                "actors": TODO + "who collects, who publishes, who reads",
                "release_type": "One-time",
                "data_source_type": TODO + "static or streaming",
                "access_type": TODO + "public, or for whom",
            },
            "accounting": {
                "post_processing": _post_processing(release),
                "composition": _composition(release, stated),
            },
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": (
                    "Bounds, categories and the plan come from the public specification; dpress reads no row for them. "
                    + TODO
                    + "what was looked at beside dpress"
                ),
                "mechanisms": f"{release.method}: {claim.basis}",
                "justification": TODO + "why these parameters",
            },
            "administrative": {
                "registry_authors": [asked.get("contact") or TODO + "names"],
                "notes": f"Written by dpress from the release with design {release.design.id}.",
            },
        },
    }


def _contents(release: Release) -> str:
    tables = [" x ".join(names) for names in release.answers.tables.values()]
    shown = ", ".join(tables[:5]) + (f" and {len(tables) - 5:,} more" if len(tables) > 5 else "")
    return shown or "no tables"


def _protected(unit: Unit, *, local: bool) -> str:
    """Return whom the promise protects, in words."""
    if local:
        return "All that one device answers; its answers are perturbed before they leave it."
    whom = (
        "one row" if unit.column is None else f"all rows of one {unit.column}, of which {unit.rows:,} at most are kept"
    )
    change = "is replaced by another" if unit.relation is Relation.REPLACE_ONE else "is added or removed"
    return f"Neighbouring tables differ in {whom}, which {change}."


def _unprotected(unit: Unit, *, local: bool) -> str:
    if local:
        return "How many devices answered, and when, where the operator keeps that."
    if unit.relation is Relation.REPLACE_ONE:
        return "The number of rows or persons; what the specification says."
    return "What the specification says; nothing that is counted is published without noise."


def _post_processing(release: Release) -> str:
    steps = release.design.release["postprocess"]
    own = f"Adjustments of the noisy answers: {', '.join(steps)}. " if steps else ""
    return f"{own}Everything after the noise is computed from the noisy answers alone."


def _composition(release: Release, stated: Loss) -> str:
    paid = f"A ledger was charged {describe(release.charged)}." if release.ledger_head else "No ledger paid for it."
    return f"The parts of this release add up to {describe(stated)}. {paid} {TODO}other releases of the same data"


def to_do(found: Any) -> int:
    """Return how many fields a person has to write."""
    if isinstance(found, Mapping):
        return sum(map(to_do, found.values()))
    return sum(map(to_do, found)) if isinstance(found, list) else int(isinstance(found, str) and TODO in found)


def as_yaml(found: Record) -> str:
    """Return nested fields as YAML, whose texts are written as JSON writes them."""
    return "\n".join(_lines(found, 0)) + "\n"


def _lines(found: Record, depth: int) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield f"{'  ' * depth}{name}:"
            yield from _lines(value, depth + 1)
        else:
            yield f"{'  ' * depth}{name}: {json.dumps(value, ensure_ascii=False)}"


def write_record(release: Release, path: str | Path) -> int:
    """Write the record of a release, replacing an older one, and return how many fields a person has to write.

    Raises:
        NotSupported: see `record`.
        OSError: the file cannot be written.
    """
    found = record(release)
    Path(path).write_text(as_yaml(found), encoding="utf-8")
    return to_do(found)
