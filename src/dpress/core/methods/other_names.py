"""What papers and other programs call the methods that have another name here."""

from collections.abc import Iterable

from dpress.core.basics.near import meant

NOISE = (
    "; the budget chooses the noise: Laplace of epsilon, Gaussian of rho or of epsilon and delta; leave `method` out"
)
NOISES = ("laplace", "laplacian", "geometric", "gaussian", "gauss", "analytic_gaussian", "discrete_laplace",
          "discrete_gaussian", "laplace_mechanism", "gaussian_mechanism", "geometric_mechanism")  # fmt: skip
ELSEWHERE = ("ahp", "calm", "dawa", "efpa", "mst", "mwem", "pate", "pmw", "privbayes", "the", "she", "blh")
"""Methods that there are none of here, whose names are only by chance like others."""
SAME = {
    **dict.fromkeys(("haar", "wavelet", "wavelets", "haar_wavelet"), "privelet"),
    **dict.fromkeys(("h2", "boosting"), "boost"),
    **dict.fromkeys(("hb", "hierarchical"), "hierarchy"),
    **dict.fromkeys(("prefix_sum", "prefix_sums", "cumulative"), "prefix"),
    **dict.fromkeys(("residual_planner", "residualplanner"), "residual_marginals"),
    **dict.fromkeys(("exponential_mechanism", "expmech"), "exponential"),
    **dict.fromkeys(("grr", "rr", "k_rr", "warner", "randomized_response", "randomised_response",
                     "generalized_randomized_response", "generalised_randomised_response"), "krr"),
    **dict.fromkeys(("optimized_unary_encoding", "optimised_unary_encoding"), "oue"),
    **dict.fromkeys(("symmetric_unary_encoding", "basic_rappor"), "sue"),
    **dict.fromkeys(("lh", "local_hashing", "optimized_local_hashing", "optimised_local_hashing"), "olh"),
    **dict.fromkeys(("hr", "hadamard_response"), "hadamard"),
    **dict.fromkeys(("ss", "subset"), "subset_selection"),
    "sw": "square_wave",
    **dict.fromkeys(("pm", "piecewise_mechanism"), "piecewise"),
    "duchi": "one_bit",
    "hio": "level_tree",
    "ug": "uniform_grid",
    "ag": "adaptive_grid",
    "aim": "graphical",
}  # fmt: skip


def hint_of(name: str, names: Iterable[str]) -> str:
    """Return which method was probably meant, to be put behind a refusal; empty where none is.

    >>> hint_of("haar", ["hadamard", "privelet"])
    "; did you mean 'privelet'?"
    >>> hint_of("mwem", ["em"])
    ''
    """
    plain, there = name.lower().replace("-", "_").replace(" ", "_"), list(names)
    if plain in NOISES:
        return NOISE
    if SAME.get(plain) in there:
        return f"; did you mean {SAME[plain]!r}?"
    return "" if plain in ELSEWHERE else meant(name, there)
