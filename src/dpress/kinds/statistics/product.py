"""The products of this kind: of a table's groups, of relations in them, and of devices. Which it is, is asked here."""

import importlib
from typing import Any, Literal

from dpress.data.specification.spec import Spec
from dpress.document.design import Design

Product = Literal["curator", "relations", "devices"]
RELATIONS = "cross_moments"
"""The method of relations."""


def of_spec(spec: Spec) -> Product:
    """Return the product that serves a specification."""
    if spec.privacy.model == "local":
        return "devices"
    return "relations" if "relations" in spec.release.parameters else "curator"


def of_design(design: Design) -> Product:
    """Return the product that a design is of."""
    if design.local:
        return "devices"
    return "relations" if design.method == RELATIONS else "curator"


def part(name: str, product: Product) -> Any:
    """Return a module of a product."""
    return importlib.import_module(f"{__package__}.{product}.{name}")
