"""What does not go together: flat data, beside the axes.

A rule says which values meet; what breaks a rule that is `refused` is a case of its own, which dpress must refuse by
the specification alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.matrix.axes import ASKED, LOCAL_ADJUSTMENTS, METHODS, UNPROVEN, Case, kind_of, of_devices

Holds = Callable[[Case], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What does not go together.

    Args:
        why: one sentence.
        axes: that it is about.
        holds: whether the values of these axes go together.
        refused: whether dpress refuses what breaks it; else there is no such case.
        slow: whether what breaks it only takes too long for the array; random cases may break it.
    """

    why: str
    axes: tuple[str, ...]
    holds: Holds
    refused: bool = False
    slow: bool = False


def only(axis: str, values: tuple[object, ...], where: Holds, *others: str, why: str, refused: bool = False) -> Rule:
    """Return the rule that an axis has one of some values where the others are as told."""
    return Rule(why=why, axes=(axis, *others), refused=refused, holds=lambda case: case[axis] in values or where(case))


DAYS = ("month",)
DATED = (*DAYS, "quarter in Berlin", "hour")
ANY = ("any texts", "any integers", "any truths", "any nasty")
LISTED = ("texts", "nasty", "nul", "integers", "truths", "ordinal")
NUMBERS = ("integer", "years", "bins", "edges")
ORDERED = ("ordinal", *NUMBERS, *DATED)
COLUMNS_OF: Mapping[str, tuple[str, ...]] = {
    "histogram": (*LISTED, "codes", *NUMBERS, *DATED),
    "marginals": (*LISTED, "codes", *NUMBERS, *DATED),
    "ranges": ORDERED,
    "queries": (*LISTED, "codes", *NUMBERS, *DATED),
    "joint": (*LISTED, "codes", *NUMBERS, *DATED),
    "spatial": ("place",),
    "microdata": (*LISTED, "codes", *NUMBERS, *DATED),
    "statistics": (*LISTED, "codes", *NUMBERS, *DATED, *ANY),
    "names": ANY,
    "regions": ("codes",),
    "histogram of devices": (*LISTED, *NUMBERS, *DAYS),
    "marginals of devices": (*LISTED, *NUMBERS, *DAYS),
    "ranges of devices": ("ordinal", *NUMBERS, *DAYS),
    "joint of devices": (*LISTED, *NUMBERS, *DAYS),
    "spatial of devices": ("place",),
    "statistics of devices": (*LISTED, *NUMBERS, *DAYS),
    "strings of devices": ANY,
    "sets of devices": ("texts", "nasty", "nul", "integers"),
}
BESIDE_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("spatial", "names", "spatial of devices", "strings of devices", "sets of devices"), ("none",)),
    **dict.fromkeys(("marginals", "joint", "joint of devices", "microdata"), ("texts", "integer", "edges")),
    **dict.fromkeys(("ranges", "ranges of devices"), ("none", "integer", "edges")),
    "histogram of devices": ("none",),
}
EVERY = ("none", "texts", "integer", "edges")
ALONG_AN_ORDER = ("monotone prefix", "top down")
TABLES = ("histogram", "marginals", "ranges", "joint")
ONE_TABLE = tuple(name for name in ASKED if name != "shares")  # nothing is shared out
OF_STATISTICS = {"group_quantiles": ("without intervals",), "cross_moments": ("relations",)}
HIDE = ("histogram", "marginals", "ranges", "queries", "statistics", "names", "strings", "sets", "regions")
SEVERAL = {  # methods that measure several tables, and what asks for some
    "auto": tuple(ASKED),
    "marginals": ("single tables", "shares", "pairs of three"),
    "priview": ("single tables", "pairs of three"),
    "residual_marginals": ("single tables", "pairs of three"),
}


def _may_lack(case: Case) -> bool:
    """Return whether a row of relations may lack a number, so that none of them counts all rows."""
    number = case["column"] in NUMBERS and case["missing"] == "cell"
    return case["asked"] == "relations" and case["grouped"] == "no" and number


RULES = (
    Rule(
        why="a method serves its kinds", axes=("room", "method"), refused=True,
        holds=lambda case: case["method"] in ("auto", *METHODS[str(case["room"])]),
    ),
    Rule(
        why="parameters belong to kinds", axes=("room", "asked"),
        holds=lambda case: case["room"] in ASKED[str(case["asked"])],
    ),
    Rule(
        why="a kind takes its columns", axes=("room", "column"), refused=True,
        holds=lambda case: case["column"] in COLUMNS_OF[str(case["room"])],
    ),
    Rule(
        why="a second attribute stands where several are published", axes=("room", "beside"),
        holds=lambda case: case["beside"] in BESIDE_OF.get(str(case["room"]), EVERY),
    ),
    only("grouped", ("no",), lambda case: kind_of(case) == "statistics", "room", why="only statistics are of groups"),
    only("grouped", ("no", "column"), lambda case: case["beside"] != "none", "beside", why="a group of two has two"),
    only("loss", ("epsilon",), lambda case: not of_devices(case), "room", why="a report has an epsilon", refused=True),
    Rule(
        why="names need a delta", axes=("room", "loss"), refused=True,
        holds=lambda case: case["room"] != "names" or case["loss"] == "delta",
    ),
    Rule(
        why="discovered groups need a delta", axes=("column", "loss", "room"), refused=True,
        holds=lambda case: case["room"] != "statistics" or case["column"] not in ANY or case["loss"] == "delta",
    ),
    only("unit", ("row",), lambda case: not of_devices(case), "room", why="a device is a person", refused=True),
    only("rows", (300, 3000), lambda case: not of_devices(case), "room", why="too few reports may be about nothing"),
    only("relation", ("add-remove",), lambda case: not of_devices(case), "room", why="it plays no part"),
    only("adjusted", ("none",), lambda case: kind_of(case) in TABLES, "room", refused=True,
         why="only tables are adjusted"),
    Rule(
        why="users are public where devices report", axes=("adjusted", "room"), refused=True,
        holds=lambda case: case["adjusted"] not in LOCAL_ADJUSTMENTS or of_devices(case),
    ),
    Rule(
        why="running totals are along one order", axes=("adjusted", "column", "beside"), refused=True,
        holds=lambda case: case["adjusted"] not in ALONG_AN_ORDER
        or (case["column"] in ORDERED and case["beside"] == "none"),
    ),
    only("periods", ("none",), lambda case: case["room"] in ("histogram", "marginals", "statistics"), "room",
         refused=True, why="a curator's tables and statistics come by periods"),
    only("periods", ("none", "separate"), lambda case: case["unit"] == "row", "unit", refused=True,
         why="counters protect rows"),
    only("periods", ("none",), lambda case: case["loss"] != "delta", "loss", refused=True, why="periods have no delta"),
    only("periods", ("none",), lambda case: case["adjusted"] not in ALONG_AN_ORDER, "adjusted", refused=True,
         why="a period is a second attribute"),
    only("periods", ("none",), lambda case: case["ledger"] != "part", "ledger", why="a period is a part already"),
    only("periods", ("none",), lambda case: case["read"] != "bundle", "read", why="a bundle is of one release"),
    only("periods", ("none",), lambda case: case["column"] not in ANY, "column", why="names differ by period"),
    only("shown", ("all",), lambda case: kind_of(case) in HIDE, "room", refused=True,
         why="maps, fitted joints and records show all numbers"),
    only("ledger", ("none",), lambda case: not of_devices(case), "room", why="a device keeps its own"),
    only("ledger", ("none", "new", "standing"), lambda case: case["read"] != "command", "read",
         why="a part is an argument of Python"),
    only("engine", ("default",), lambda case: not of_devices(case), "room", why="reports are added up here"),
    Rule(
        why="SQL runs where a database can read", axes=("engine", "source"),
        holds=lambda case: case["engine"] != "sql" or case["source"] in ("duckdb", "database", "parquet", "folder"),
    ),
    Rule(
        why="a command reads files", axes=("read", "source"),
        holds=lambda case: case["read"] != "command"
        or case["source"] in ("csv", "gzip", "parquet", "arrow", "folder", "database", "workbook"),
    ),
    only("outside", ("drop", "reject"), lambda case: case["room"] != "regions", "room", refused=True,
         why="no region stands for what lies nowhere"),
    only("missing", ("drop", "reject"), lambda case: case["room"] != "regions", "room", refused=True,
         why="no region stands for what is missing"),
    only("words", ("none", "title"), lambda case: case["column"] in LISTED, "column",
         why="labels are of listed values"),
    only("outside", ("cell",), lambda case: case["column"] not in (*ANY, "hour"), "column", why="nothing is outside"),
    only("outside", ("cell", "reject"), lambda case: not of_devices(case), "room", refused=True,
         why="a device that sends nothing tells that it is outside"),
    only("missing", ("cell", "reject"), lambda case: not of_devices(case), "room", refused=True,
         why="a device that sends nothing tells that it knows nothing"),
    only("words", ("none", "title", "labels"), lambda case: case["room"] != "sets of devices", "room", refused=True,
         why="sets overlap, so that no group adds up"),
    Rule(
        why="what is related, or counted as different, is of groups that are listed", axes=("room", "asked", "column"),
        refused=True,
        holds=lambda case: case["room"] != "statistics" or case["column"] not in ANY
        or case["asked"] not in ("relations", "distinct"),
    ),
    Rule(
        why="methods of statistics", axes=("method", "asked"), refused=True,
        holds=lambda case: case["asked"] in OF_STATISTICS.get(str(case["method"]), ASKED)
        and (case["method"] != "group_statistics" or case["asked"] not in ("private bounds", "relations")),
    ),
    Rule(
        why="a pair of attributes is one table", axes=("method", "asked", "room"), refused=True,
        holds=lambda case: case["room"] != "marginals" or case["asked"] in SEVERAL.get(str(case["method"]), ONE_TABLE),
    ),
    only("loss", ("epsilon", "delta"), lambda case: case["method"] not in UNPROVEN, "method", refused=True,
         why="records without a proof have an epsilon"),
    only("unit", ("row", "person"), lambda case: case["method"] not in ("mdav", "dp_k_prototypes"),
         "method", refused=True, why="a group's record is of one row a person"),
    only("method", ("auto", "hdg"), lambda case: case["room"] != "ranges of devices" or case["beside"] == "none",
         "room", "beside", refused=True, why="one method asks for boxes"),
    Rule(
        why="tiles hold no cell beside the order", refused=True,
        axes=("room", "beside", "column", "outside", "missing"),
        holds=lambda case: case["room"] != "ranges of devices" or case["beside"] == "none"
        or (case["missing"] == "reject" and (case["outside"] == "reject" or case["column"] != "ordinal")),
    ),
    Rule(
        why="discovered values make groups", axes=("room", "column", "grouped"),
        holds=lambda case: case["room"] != "statistics" or case["column"] not in ANY or case["grouped"] != "no",
    ),
    only("periods", ("none",), lambda case: case["method"] != "residual_marginals", "method", refused=True,
         why="one cell of time has no residual"),
    Rule(
        why="groups are discovered by a method of its own", axes=("room", "method", "column"), refused=True,
        holds=lambda case: case["room"] != "statistics" or case["method"] == "auto" or case["column"] not in ANY,
    ),
    Rule(
        why="clusters need people", axes=("room", "rows", "budget"),
        holds=lambda case: case["room"] != "microdata" or case["budget"] == "large" or int(str(case["rows"])) > 4,
    ),
    Rule(
        why="one bit tells a mean", axes=("method", "asked", "grouped"), refused=True,
        holds=lambda case: case["method"] != "one_bit"
        or (case["asked"] in ("plain", "assume") and case["grouped"] == "no"),
    ),
    only("loss", ("rho", "delta"), lambda case: case["method"] not in ("dst", "residual_marginals"), "method",
         refused=True, why="they are of Gaussian noise"),
    only("loss", ("epsilon", "delta"), lambda case: case["method"] != "priview", "method", refused=True,
         why="views are for Laplace noise"),
    Rule(
        why="a Gaussian threshold serves small losses", axes=("method", "budget"), refused=True,
        holds=lambda case: case["method"] != "gaussian_threshold" or case["budget"] == "small",
    ),
    Rule(
        why="grids are of two attributes", axes=("method", "beside"), refused=True,
        holds=lambda case: case["method"] != "hdg" or case["beside"] != "none",
    ),
    Rule(
        why="trees grow along an order", axes=("room", "method", "column", "outside", "missing"), refused=True,
        holds=lambda case: case["room"] != "ranges of devices" or case["method"] != "ahead"
        or (case["missing"] == "reject" and (case["outside"] == "reject" or case["column"] != "ordinal")),
    ),
    Rule(
        why="a place has no cell of its own for what is missing", axes=("column", "missing"),
        holds=lambda case: case["column"] != "place" or case["missing"] == "reject",
    ),
    only("missing", ("cell",), lambda case: case["column"] not in ANY, "column", why="the rest has what is missing"),
    Rule(
        why="records hold numbers", axes=("room", "column", "missing"), refused=True,
        holds=lambda case: case["room"] != "microdata" or case["column"] not in (*NUMBERS, *DATED)
        or case["missing"] != "cell",
    ),
    Rule(
        why="a truth is no stray", axes=("column", "outside"),
        holds=lambda case: case["column"] != "truths" or case["outside"] == "reject",
    ),
    Rule(
        why="rows that are refused are cases of their own", axes=("contents", "outside", "missing"),
        holds=lambda case: case["contents"] != "stray" or "reject" not in (case["outside"], case["missing"]),
    ),
    only("contents", ("spread", "one cell", "stray"), lambda case: case["unit"] != "row", "unit",
         why="only a person has many rows"),
    Rule(
        why="persons have names", axes=("asked", "unit"), refused=True,
        holds=lambda case: case["asked"] != "persons" or case["unit"] != "row",
    ),
    Rule(
        why="persons are counted in groups that are listed, between bounds that are stated",
        axes=("room", "asked", "column"),
        holds=lambda case: case["room"] != "statistics" or case["column"] not in ANY
        or case["asked"] not in ("persons", "private bounds"),
    ),
    only("budget", ("large",), lambda case: case["asked"] != "precision", "asked", why="a precision has its price"),
    only("rows", (300, 3000), lambda case: case["asked"] != "precision", "asked", why="a precision needs people"),
    only("rows", (300, 4, 3000), lambda case: case["method"] not in ("mdav", "dp_k_prototypes"), "method",
         why="a cluster needs rows"),
    Rule(
        why="a cluster needs persons", axes=("method", "rows", "contents"),
        holds=lambda case: case["method"] not in ("mdav", "dp_k_prototypes") or case["rows"] != 4
        or case["contents"] != "heavy",
    ),
    Rule(
        why="quantiles from devices are fitted again and again", axes=("room", "asked"), slow=True,
        holds=lambda case: case["room"] != "statistics of devices" or case["asked"] != "quantiles",
    ),
    Rule(
        why="a plan of all maps simulates each", axes=("room", "method"), slow=True,
        holds=lambda case: kind_of(case) != "spatial" or case["method"] != "auto",
    ),
    only("where", ("none",), lambda case: not of_devices(case), "room", refused=True,
         why="a device that reports would show that the condition holds"),
    only("where", ("none",), lambda case: case["relation"] != "replace-one", "relation", refused=True,
         why="how many rows are left is not public"),
    only("where", ("none", "another column"), lambda case: case["column"] != "place", "column", refused=True,
         why="a condition is of cells in an order or a list"),
    Rule(
        why="groups are hidden by a count that is published", refused=True,
        axes=("shown", "room", "method", "asked", "grouped", "column", "missing"),
        holds=lambda case: case["shown"] != "hide and round" or case["room"] != "statistics"
        or (case["method"] != "group_quantiles" and not _may_lack(case)),
    ),
    only("shown", ("all", "hide", "round"),
         lambda case: case["asked"] != "without intervals" or case["method"] != "auto", "asked", "method",
         why="whether a count is published with stated numbers depends on which way errs less"),
    Rule(
        why="a database compares no times and no bytes of zero as files are",
        axes=("where", "column", "source", "engine"),
        holds=lambda case: case["where"] != "an attribute" or case["column"] not in ("hour", "nul")
        or (case["engine"] != "sql" and case["source"] not in ("duckdb", "database")),
    ),
    Rule(
        why="a workbook holds no bytes of zero", axes=("source", "column"),
        holds=lambda case: case["source"] != "workbook" or case["column"] not in ("nul", *DATED),
    ),
)  # fmt: skip


def allowed(case: Case) -> bool:
    """Return whether all rules hold but those that are about time."""
    return all(rule.holds(case) for rule in RULES if not rule.slow)
