"""The axes of a case: flat data, from which covering arrays and random cases are made.

Where a value stands for a choice of no interest it comes first.
"""

from collections.abc import Mapping

from tests.matrix.columns import COLUMNS

Case = Mapping[str, object]

CURATED = (
    *("histogram", "marginals", "ranges", "queries", "joint", "spatial", "microdata", "statistics", "names", "regions"),
)  # fmt: skip
COLLECTED = ("histogram", "marginals", "ranges", "joint", "spatial", "statistics", "strings", "sets")
ROOMS = (*CURATED, *(f"{one} of devices" for one in COLLECTED))
ORACLES = (
    *("krr", "oue", "sue", "olh", "subset_selection", "hadamard", "rappor", "rr_ldp", "pcep", "pgr", "loloha"),
)  # fmt: skip
METHODS: Mapping[str, tuple[str, ...]] = {
    "histogram": ("identity",),
    "marginals": ("marginals", "identity", "priview", "residual_marginals"),
    "ranges": ("identity", "binary_tree", "boost", "privelet", "hierarchy", "prefix", "dst"),
    "queries": ("direct_queries", "identity", "p_identity"),
    "joint": ("marginals",),
    "spatial": ("quadtree", "uniform_grid", "adaptive_grid"),
    "microdata": (
        *("dp_prototypes", "graphical", "per_record", "insensitive_microaggregation", "mdav", "dp_k_prototypes"),
    ),
    "statistics": ("group_statistics", "group_quantiles", "cross_moments"),
    "names": ("partition_selection", "gaussian_threshold"),
    "regions": ("spine_marginals",),
    "histogram of devices": ORACLES,
    "marginals of devices": ORACLES,
    "ranges of devices": ("subset_selection", "olh", "level_tree", "hdg", "ahead"),
    "joint of devices": ("pairs", "em", "lasso", "lremh", "rr_ldp", "independent", "subset_selection"),
    "spatial of devices": (
        *("gtr", "gtr_top_down", "n_gtr", "qt_krr", "qt_rappor", "dam", "ahead", "psda", "n_psda", "krr", "hadamard"),
    ),
    "statistics of devices": ("square_wave", "piecewise", "one_bit"),
    "strings of devices": ("pem",),
    "sets of devices": ("privset",),
}  # fmt: skip
UNPROVEN = ("per_record", "insensitive_microaggregation", "mdav", "dp_k_prototypes", "psda")
ASKED: Mapping[str, tuple[str, ...]] = {
    "plain": ROOMS,
    "pairs": ("marginals", "joint"),
    "single tables": ("marginals",),
    "pairs of three": ("marginals",),
    "shares": ("marginals",),
    "prefixes": ("ranges", "ranges of devices"),
    "length": ("ranges", "ranges of devices"),
    "listed": ("ranges", "ranges of devices"),
    "weights": ("microdata",),
    "variance": ("statistics", "statistics of devices"),
    "quantiles": ("statistics", "statistics of devices"),
    "without intervals": ("statistics",),
    "share": ("statistics",),
    "persons": ("statistics",),
    "private bounds": ("statistics",),
    "precision": ("statistics",),
    "levels": ("statistics",),
    "assume": ("statistics", "statistics of devices"),
    "split users": ("histogram of devices", "marginals of devices"),
    "split budget": ("marginals of devices",),
    "again": ("histogram of devices", "marginals of devices"),
    "cap of two": ("sets of devices",),
    "records": ("regions",),
    "public totals": ("regions",),
    "sampling weight": ("statistics",),
    "relations": ("statistics",),
    "distinct": ("statistics",),
}
LOCAL_ADJUSTMENTS = ("norm sub", "simplex", "base cut")
AXES: Mapping[str, tuple[object, ...]] = {
    "room": ROOMS,
    "method": ("auto", *dict.fromkeys(name for names in METHODS.values() for name in names)),
    "asked": tuple(ASKED),
    "column": tuple(COLUMNS),
    "beside": ("none", "texts", "integer", "edges"),
    "grouped": ("no", "column", "column and beside"),
    "named": ("x", "constructor", "mean"),
    "outside": ("cell", "drop", "reject"),
    "missing": ("cell", "drop", "reject"),
    "words": ("none", "labels", "hierarchy", "title"),
    "loss": ("epsilon", "rho", "delta"),
    "budget": ("large", "small"),
    "relation": ("add-remove", "replace-one"),
    "unit": ("row", "person", "person of three"),
    "adjusted": ("none", "nonnegative", "integer", "both", "monotone prefix", "top down", *LOCAL_ADJUSTMENTS),
    "periods": ("none", "separate", "tree", "smooth"),
    "users": ("stated", "left out"),
    "source": (
        *("pandas", "polars", "pyarrow", "lazy", "dataset", "duckdb", "csv", "gzip", "parquet", "arrow"),
        *("folder", "database", "workbook"),
    ),
    "engine": ("default", "threads", "sql"),
    "rows": (300, 1, 4, 3000),
    "contents": ("spread", "one cell", "stray", "heavy"),
    "ledger": ("none", "new", "standing", "part"),
    "where": ("none", "another column", "an attribute"),
    "read": ("table", "page", "bundle", "command"),
    "shown": ("all", "hide", "round", "hide and round"),
}  # fmt: skip


def of_devices(case: Case) -> bool:
    """Return whether devices are asked."""
    return str(case["room"]).endswith(" of devices")


def kind_of(case: Case) -> str:
    """Return the kind as a specification names it."""
    return str(case["room"]).removesuffix(" of devices")
