"""The peers of `relations.py`: regressions of diffprivlib, and of OpenDP with one regressor, elsewhere installed.

python -m venv peer && peer/bin/pip install diffprivlib 'scikit-learn<1.6' 'opendp[scikit-learn]'
peer/bin/python bench/peer_relations.py TABLES.npz RUNS

Prints the coefficients of every run, the intercept first, by table and library.
"""

import json
import sys
import warnings
from typing import Any

import diffprivlib.models
import numpy as np
import opendp.prelude as dp
from opendp.extras.sklearn.linear_model import LinearRegression
from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_private_theil_sen

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
EPSILON = 1.0
BOUNDS = (-1.0, 1.0)


def diffprivlib_fit(x: Any, y: Any) -> list[float]:
    """Return the coefficients of diffprivlib."""
    fitted = diffprivlib.models.LinearRegression(epsilon=EPSILON, bounds_X=BOUNDS, bounds_y=BOUNDS).fit(x, y)
    return [float(fitted.intercept_), *np.ravel(fitted.coef_).tolist()]


def opendp_scale() -> float:
    """Return the scale of the noise at which OpenDP's regression is of epsilon 1."""

    def made(scale: float) -> Any:
        return make_private_theil_sen(dp.max_divergence(), BOUNDS, BOUNDS, scale)

    return dp.binary_search_param(made, d_in=1, d_out=EPSILON, T=float)


def opendp_fit(scale: float, x: Any, y: Any) -> list[float]:
    """Return the coefficients of OpenDP."""
    model = LinearRegression(dp.max_divergence(), x_bounds=[BOUNDS], y_bounds=BOUNDS, scale=scale)
    fitted = model.fit(x.tolist(), y.tolist())
    return [float(np.ravel(fitted.intercept_)[0]), float(np.ravel(fitted.coef_)[0])]


def main() -> None:
    """Print the coefficients as JSON."""
    warnings.simplefilter("ignore")
    tables, runs, scale, made = np.load(sys.argv[1]), int(sys.argv[2]), opendp_scale(), {}
    for name in tables.files:
        x, y = tables[name][:-1].T, tables[name][-1]
        made[name] = {"diffprivlib": [diffprivlib_fit(x, y) for _ in range(runs)]}
        if x.shape[1] == 1:
            made[name]["OpenDP"] = [opendp_fit(scale, x, y) for _ in range(runs)]
    json.dump(made, sys.stdout)


if __name__ == "__main__":
    main()
