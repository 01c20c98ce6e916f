"""Which sums are measured, or which devices are asked what, for the statistics of a specification."""

from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import product
from dpress.release.plan.candidate import Choice


def choose(spec: Spec) -> Choice:
    """Return the candidates, and the one that acts.

    Raises:
        NotSupported: there are too many groups, or a method that does not serve.
        ValueError: attributes or parameters do not fit, or the budget does not give the precision.
    """
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "statistics" has no tables to adjust')
    choice: Choice = product.part("design", product.of_spec(spec)).choose(spec)
    return choice
