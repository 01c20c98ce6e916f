"""The numbers of a statement as queries: counts, means, sums, quantiles, shares, ratios and differences of counts.

expression -> `query_tree.Query`, a factor that its answer is multiplied by, and places that it is rounded to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dpress.attributes.protocol import Cells
from dpress.query.query_tree import TOTAL, Condition, Query, both, named
from dpress.query.sql.columns import Columns, missing
from dpress.query.sql.conditions import CONDITIONS, condition, opposite
from dpress.query.sql.expressions import WRAPPERS, bare, constant, is_null, shown

FORMS = (
    "count(*), count(*) filter (where ...), avg(x), sum(x), median(x), percentile_cont(0.9) within group (order by x), "
    "a ratio or a difference of two counts"
)
NAMES = {"mean": "avg", "persons": "count", "variance": "var_pop"}
OF_RELATIONS = {
    "correlation": "corr",
    "covariance": "covar_pop",
    "coefficient": "regr_slope",
    "intercept": "regr_intercept",
}
MEDIAN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number before it has a name.

    Args:
        query: whose answer it is.
        factor: times the answer.
        places: that it is rounded to; None where it is not.
    """

    query: Query
    factor: float = 1.0
    places: int | None = None

    @property
    def name(self) -> str:
        """Of its column, where the statement gives none."""
        if self.query.of == "quantile":
            return "median" if self.query.level == MEDIAN else "percentile_cont"
        if self.query.of == "relation":
            return OF_RELATIONS[self.query.attribute.split()[0]]
        return NAMES.get(self.query.of, self.query.of)

    @property
    def counted(self) -> Condition | None:
        """The rows that it counts; None where it is no count."""
        return both(self.query.first, self.query.where) if self.query.of == "count" else None


def measure(columns: Columns, node: exp.Expr) -> Measure:
    """Return the number that an expression asks for.

    Raises:
        SqlRefusal: it has no answer with a known error; the message says what has.
    """
    if isinstance(node, WRAPPERS):
        return measure(columns, node.this)
    for kind, reader in READERS.items():
        if isinstance(node, kind):
            return reader(columns, node)
    raise columns.refused(f"cannot read {shown(node)} as a number; ask for {FORMS}", node)


def is_number(node: exp.Expr) -> bool:
    """Say whether an expression adds rows up, so that it is a number of a group and no key."""
    return node.find(exp.AggFunc) is not None or node.find(exp.WithinGroup) is not None


def _count(columns: Columns, node: exp.Expr) -> Measure:
    inner = node.this
    if isinstance(inner, exp.Star | exp.Literal):
        return Measure(query=Query(of="count"))
    if isinstance(inner, exp.Distinct):
        return _persons(columns, inner)
    if isinstance(inner, exp.Case):
        _, rows = _branch(columns, inner)
        return Measure(query=Query(of="count", first=rows))
    absent = missing(columns.of(inner))
    return Measure(query=Query(of="count", first=TOTAL if absent is None else opposite(absent)))


def _persons(columns: Columns, node: exp.Distinct) -> Measure:
    """Return how many persons there are, the only distinct values that can be counted."""
    names = [part.name for part in node.expressions]
    if tuple(names) != columns.unit:
        of = (
            f"count(distinct {', '.join(columns.unit)})" if columns.unit else "nothing: rows are protected, not persons"
        )
        raise columns.refused(
            f"distinct values of {', '.join(names)} are not counted; of distinct ones there is {of}", node
        )
    return Measure(query=Query(of="persons"))


def _count_if(columns: Columns, node: exp.Expr) -> Measure:
    return Measure(query=Query(of="count", first=condition(columns, node.this)))


def _sum(columns: Columns, node: exp.Expr) -> Measure:
    times = _without_weight(columns, node.this)
    attribute, rows = _argument(columns, node.this if times is None else times)
    if times is not None and attribute == columns.weight:
        raise columns.refused(f"cannot add up products of {columns.weight} with itself; ask for another number", node)
    if times is not None and not attribute:
        attribute = columns.weight
    if not attribute:
        return Measure(query=Query(of="count", first=rows))
    return Measure(query=Query(of="sum", attribute=attribute, where=None if rows == TOTAL else rows))


def _without_weight(columns: Columns, node: exp.Expr) -> exp.Expr | None:
    """Return what is multiplied by the weight of rows, in a branch of `case`, too; None where nothing is."""
    plain = bare(node)
    if columns.weight and isinstance(plain, exp.Mul):
        for weight, number in ((plain.this, plain.expression), (plain.expression, plain.this)):
            if isinstance(bare(weight), exp.Column) and columns.of(bare(weight)).name == columns.weight:
                return bare(number)
    if isinstance(plain, exp.Case) and len(plain.args["ifs"]) == 1:
        inner = _without_weight(columns, plain.args["ifs"][0].args["true"])
        if inner is not None:
            made = plain.copy()
            made.args["ifs"][0].set("true", inner.copy())
            return made
    return None


def _mean(columns: Columns, node: exp.Expr) -> Measure:
    attribute, rows = _argument(columns, node.this)
    if attribute:
        if isinstance(node.this, exp.Case) and not is_null(node.this.args.get("default")):
            raise columns.refused("avg counts the zeros of `else`, too: leave `else` out, or ask for a ratio", node)
        return Measure(query=Query(of="mean", attribute=attribute, where=None if rows == TOTAL else rows))
    whole = _decided(columns, node.this)
    return Measure(query=Query(of="share", first=rows, where=None if whole == TOTAL else whole))


def _decided(columns: Columns, node: exp.Expr) -> Condition:
    """Return the rows in which a condition is true or false; those of `case` have a value in all."""
    plain = bare(node)
    if not isinstance(plain, CONDITIONS):
        return TOTAL
    for column in plain.find_all(exp.Column):
        if (absent := missing(columns.of(column))) is not None:
            return opposite(absent)
    return TOTAL


def _argument(columns: Columns, node: exp.Expr) -> tuple[str, Condition]:
    """Return the attribute that is added up, empty for ones, and the rows of which it is."""
    plain = bare(node)
    if isinstance(plain, exp.Case):
        return _branch(columns, plain)
    if isinstance(plain, CONDITIONS):
        return "", condition(columns, plain)
    if isinstance(plain, exp.Column):
        return columns.of(plain).name, TOTAL
    raise columns.refused(f"cannot add up {shown(plain)}: name a column, or a condition", node)


def _branch(columns: Columns, node: exp.Case) -> tuple[str, Condition]:
    """Return what one branch of `case` adds up, and where; all else must be 0 or null."""
    branches, rest = node.args["ifs"], node.args.get("default")
    if len(branches) > 1 or node.this is not None or not (is_null(rest) or _is(rest, 0)):
        raise columns.refused("here `case` has one branch, `case when ... then ... else 0 end`", node)
    rows, value = condition(columns, branches[0].this), bare(branches[0].args["true"])
    if isinstance(value, exp.Column):
        return columns.of(value).name, rows
    if not _is(value, 1) or (isinstance(node.parent, exp.Count) and not is_null(rest)):
        raise columns.refused("here `then` has a column or 1, and a count no `else`", node)
    return "", rows


def _is(node: exp.Expr | None, number: float) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and float(node.this) == number


def _filtered(columns: Columns, node: exp.Expr) -> Measure:
    inner, rows = measure(columns, node.this), condition(columns, node.expression.this)
    return replace(inner, query=replace(inner.query, where=both(rows, inner.query.where)))


def _quantile(columns: Columns, node: exp.Expr) -> Measure:
    level = node.args.get("quantile") or node.expression
    return _at(columns, node, node.this, level)


def _median(columns: Columns, node: exp.Expr) -> Measure:
    return _at(columns, node, node.this, exp.Literal.number(MEDIAN))


def _within_group(columns: Columns, node: exp.Expr) -> Measure:
    """Return `percentile_cont(p) within group (order by x)`; in falling order it is the one of 1 - p."""
    inner, orders = node.this, node.expression.expressions
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(orders) != 1:
        raise columns.refused("write percentile_cont(0.9) within group (order by x)", node)
    made = _at(columns, node, orders[0].this, inner.this)
    falling = bool(orders[0].args.get("desc"))
    return replace(made, query=replace(made.query, level=1 - made.query.level)) if falling else made


def _at(columns: Columns, node: exp.Expr, column: exp.Expr, level: exp.Expr | None) -> Measure:
    share = None if level is None else constant(level)
    if share is None or not 0 < share < 1:
        raise columns.refused("the level of a quantile is a number strictly between 0 and 1", node)
    return Measure(query=Query(of="quantile", attribute=columns.of(bare(column)).name, level=share))


def _negated(columns: Columns, node: exp.Expr) -> Measure:
    inner = measure(columns, node.this)
    return replace(inner, factor=-inner.factor)


def _rounded(columns: Columns, node: exp.Expr) -> Measure:
    places = node.args.get("decimals")
    count = 0 if places is None else constant(places)
    if count is None or count != int(count):
        raise columns.refused("round takes a whole number of places", node)
    return replace(measure(columns, node.this), places=int(count))


def _product(columns: Columns, node: exp.Expr) -> Measure:
    for times, other in ((node.this, node.expression), (node.expression, node.this)):
        if (factor := constant(times)) is not None:
            inner = measure(columns, other)
            return replace(inner, factor=factor * inner.factor)
    raise columns.refused(f"the error of a product of two numbers is not known; ask for {FORMS}", node)


def _quotient(columns: Columns, node: exp.Expr) -> Measure:
    """Return a ratio of two counts, a mean from a sum and a count, or a number over a constant."""
    above, below = measure(columns, node.this), bare(node.expression)
    if (divisor := constant(below)) is not None:
        if not divisor:
            raise columns.refused("division by zero", node)
        return replace(above, factor=above.factor / divisor)
    under = measure(columns, below.this if isinstance(below, exp.Nullif) else below)
    factor = above.factor / under.factor
    first, second = above.counted, under.counted
    if columns.weight and first is None and second is not None:
        raise columns.refused(f"rows are weighted: divide by sum({columns.weight}) and not by a count of rows", node)
    if first is not None and second is not None:
        if second == TOTAL:
            return Measure(query=Query(of="share", first=first), factor=factor)
        return Measure(query=Query(of="ratio", first=first, second=second), factor=factor)
    if columns.weight and under.query.of == "sum" and under.query.attribute == columns.weight:
        return Measure(query=_of_weights(columns, node, above.query, under.query), factor=factor)
    if above.query.of == "sum" and second is not None:
        return Measure(query=_mean_of(columns, node, above.query, second), factor=factor)
    raise columns.refused("a ratio is of two counts, or of a sum and the count of the same rows", node)


def _of_weights(columns: Columns, node: exp.Expr, total: Query, weights: Query) -> Query:
    """Return the weighted mean or share that a sum over the sum of the weights is."""
    if total.of == "sum" and total.attribute != columns.weight:
        column, present = _summed(columns, total)
        if (weights.where or TOTAL) == present and len(column.extra) == (missing(column) is not None):
            return replace(total, of="mean")
        if total.where == weights.where:
            raise columns.refused(
                f"sum({columns.weight}) has weights of rows without {column.name}, too; write avg({column.name})", node
            )
    if total.of == "sum" and total.attribute == columns.weight and weights.where is None and total.where is not None:
        return Query(of="share", first=total.where)
    raise columns.refused(f"sum({columns.weight}) divides a weighted sum, or the weights, of the same rows", node)


def _mean_of(columns: Columns, node: exp.Expr, total: Query, counted: Condition) -> Query:
    """Return the mean that a sum over a count is, where the count is of the rows that the sum adds up."""
    column, present = _summed(columns, total)
    if counted != present:
        raise columns.refused(
            f"a sum of {column.name} is divided by the count of other rows; write avg({column.name})", node
        )
    return replace(total, of="mean")


def _summed(columns: Columns, total: Query) -> tuple[Cells, Condition]:
    """Return the column that a sum adds up, and the rows that it has values in."""
    column = next(column for column in columns.attributes if column.name == total.attribute)
    absent, rows = missing(column), total.where or TOTAL
    return column, rows if absent is None else both(opposite(absent), rows)


def _difference(columns: Columns, node: exp.Expr) -> Measure:
    above, below = measure(columns, node.this), measure(columns, node.expression)
    first, second = above.counted, below.counted
    if first is None or second is None or above.factor != below.factor:
        raise columns.refused("a difference is of two counts; ask for others each by itself", node)
    return Measure(query=Query(of="difference", first=first, second=second), factor=above.factor)


def _variance(columns: Columns, node: exp.Expr) -> Measure:
    return Measure(query=Query(of="variance", attribute=columns.of(bare(node.this)).name))


def _variance_of_a_sample(columns: Columns, node: exp.Expr) -> Measure:
    raise columns.refused("a variance is that of all rows: var_pop(...); statistics alone have one", node)


def _relation(columns: Columns, node: exp.Expr) -> Measure:
    """Return a relation of two columns, of the rows that have numbers of both."""
    pair = [bare(part) for part in (node.this, node.expression)]
    if not all(isinstance(part, exp.Column) for part in pair):
        raise columns.refused(f"cannot read {shown(node)}: name two columns", node)
    y, x = (named(columns.of(part).name) for part in pair)
    return Measure(query=Query(of="relation", attribute=RELATIONS[type(node)].format(y=y, x=x)))


RELATIONS: Mapping[type[exp.Expr], str] = {
    exp.Corr: "correlation {y} {x}",
    exp.CovarPop: "covariance {y} {x}",
    exp.RegrSlope: "coefficient {x} in {y} ~ {x}",
    exp.RegrIntercept: "intercept in {y} ~ {x}",
}
"""The relations that SQL has functions of."""
READERS: Mapping[type[exp.Expr], Callable[[Columns, exp.Expr], Measure]] = {
    exp.CountIf: _count_if,
    exp.Count: _count,
    exp.Sum: _sum,
    exp.Avg: _mean,
    exp.Median: _median,
    exp.WithinGroup: _within_group,
    exp.Quantile: _quantile,
    exp.PercentileCont: _quantile,
    exp.VariancePop: _variance,
    exp.Variance: _variance_of_a_sample,
    exp.Filter: _filtered,
    exp.Neg: _negated,
    exp.Round: _rounded,
    exp.Mul: _product,
    exp.Div: _quotient,
    exp.Sub: _difference,
    **dict.fromkeys(RELATIONS, _relation),
}
