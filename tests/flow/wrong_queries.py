"""Queries and statements as people mistype them, and what the refusal says."""

from tests.flow.conftest import ATTRIBUTES

STATISTICS = f"""
[data]
source = "rows.csv"
{ATTRIBUTES}
[[attribute]]
name = "size"
kind = "numeric"
bounds = [0, 8]
bins = 8
[privacy]
epsilon = 1
[release]
kind = "statistics"
parameters = {{ by = ["sex"], mean = ["age", "size"] }}
"""
HAS = "this release has count, sum age, mean age, sum size, mean size, by sex"
OF_STATISTICS = [
    ("mean age by ward", f"there is no attribute 'ward'; the attributes are age, sex, size ({HAS})"),
    ("mean age by size", f"size makes no groups for `by` and conditions; {HAS}"),
    ("mean age where size > 3", f"size makes no groups for `by` and conditions; {HAS}"),
    ("share age >= 5", f"age makes no groups for `by` and conditions; {HAS}"),
    ("mean ages", f"did you mean 'age'? ({HAS})"),
    ("variance age", f"no statistic 'variance age'; {HAS}; a specification asks for it by variance = [\"age\"]"),
    ("median age", f'{HAS}; a specification asks for it by median = ["age"] or quantiles = {{ age = [0.9] }}'),
]
"""Queries of a release of statistics."""
QUERIES = [
    ("mean in", "cannot read 'in'; write `mean NAME`"),
    ("sum by", "cannot read 'by'; write `sum NAME`"),
    ("count by", "`by` needs the name of an attribute behind it"),
    ("avg age", "a mean is `mean NAME`"),
    ("max age", "extremes are not answered; write `quantile 0.99 of NAME`"),
    ("select count(*)", "SQL stands behind --sql"),
    ("age >", "a value is missing behind the operator"),
    ("age => 3", "`=>` is no operator; did you mean `age >= 3`?"),
    ("sex <> F", "`<>` is no operator; did you mean `sex != F`?"),
    ("age \u2265 3", "the operators are =, !=, <, <=, >, >= and in"),
    ("age = 3..5", "cannot read '3..5' behind age; a range is `age in 3..5`"),
    ("age = 3-5", "a range is `age in 3..5`"),
    ("age >= 3 to 5", "a range is `age in 3..5`"),
    ("age in 3...5", "a range is `age in 3..5`"),
    ("age 3..5", "; an operator is missing behind age"),
    ("sex: F", "; an operator is missing behind sex"),
    ("sex is F", "; write `NAME = VALUE`"),
    ("sex = null", "sex has no value 'null'; it has F, M; write `NAME is missing`"),
    ("sex = \u201cF\u201d", "; quotes are straight"),
    ("3 <= age <= 5", "the attribute stands before the operator, as in `NAME >= 30` or `NAME in 30..40`"),
    ("age = 3,5", "the decimals of a number stand behind a point"),
    ("sex=F age=3", "cannot read 'F age=3' behind sex; conditions are joined by `and` and `or`"),
    ("(sex = F) age = 3", "`and` or `or` is missing before it"),
    ("share sex = F / age = 3", "a ratio is `ratio CONDITIONS / CONDITIONS`"),
    ("count sex = F + count sex = M", "rows of either kind are `count CONDITIONS or CONDITIONS`"),
    ("share of sex = F", "; leave out `of`"),
    ("share sex = F of age = 3", "which rows it is of stands behind `where`"),
    ("mean age for sex = F", "which rows it is of stands behind `where`"),
    ("mean age per sex", "groups are `by NAME`, at the end"),
    ("count by sex and age", "several attributes are `by sex, age`"),
    ("count by sex, agee", "there is no attribute 'agee'; the attributes are age, sex; did you mean 'age'?"),
    ("mean agee by sex", "there is no attribute 'agee'; the attributes are age, sex; did you mean 'age'?"),
    ("mean(age)", "a statistic has no parentheses: `mean NAME`, `count CONDITIONS`"),
    ("count(*)", "all rows are `total`"),
    ("everyone", "all rows are `total`"),
    ("percentile 90 of age", "a percentile is `quantile 0.9 of NAME`"),
    ("p90 age", "a percentile is `quantile 0.9 of NAME`"),
    ("mode sex", "how often every value occurs is `count by NAME`"),
    ("logistic sex ~ agee", "there is no attribute 'agee'"),
    ("sex ~ age", "the chance of one of its values is `logistic NAME = VALUE ~ NAME + NAME`"),
    ("how many sex = F", "a number of rows is `count CONDITIONS`"),
    ("variance age", 'kind = "statistics" measures it; here `quantile 0.25 of NAME` and 0.75 tell the spread'),
    ("total age", "all rows are `total`, numbers are added up by `sum NAME`"),
    ("age = 3 and", "a condition is missing at the end"),
    ("age = 3 && sex = F", "conditions are joined by `and` and `or`"),
    ("age = 3; sex = F", "conditions are joined by `and` and `or`"),
    ("age < 10%", "a number stands without %"),
    ("sex is null", "write `NAME is missing`"),
    ("sex like 'F%'", "values are named whole"),
    ("mean age group by sex", "groups are `by NAME`, at the end"),
    ("", "a condition is missing"),
    ("age = 99", "age: nothing lies there; it runs from 0 to 9"),
    ("sex = female", "sex has no value 'female'; it has F, M"),
    ("ages = 3", "did you mean 'age'?"),
    ("(age = 3", "a parenthesis is not closed"),
    ("age in 3..", "age: an end of the range is missing; write both, as in 30..40"),
    ("age in 7..3", "the ends of 7..3 are reversed; write 3..7"),
    ("age between 3", "write `age between a and b`"),
    ("sex in F, M", "write a..b or (a, b, c)"),
    ("share", "write `share CONDITIONS`"),
    ("ratio age = 3", "write `ratio CONDITIONS / CONDITIONS`"),
    ("quantile 90 of age", "quantile: expected a level strictly between 0 and 1, got 90"),
    ("quantile age", "write `quantile 0.9 of NAME`"),
    ("count by agee", "did you mean 'age'?"),
    ("mean sex", "expected an integer or numeric attribute, sex is categorical; ask for `share sex = VALUE`"),
    ("where age = 3", "leave out `where`: a query is a condition alone"),
    ("percent sex = F", "a share is `share CONDITIONS`"),
    ("count sex = F - sex = M", "a difference is `count CONDITIONS - count CONDITIONS`"),
    ("*", "cannot read '*'; write e.g. `NAME in 30..40 and NAME = VALUE`, with the attributes age, sex"),
]
STATEMENTS = [
    (
        "select sex, avg(age) from t",
        "'sex' is neither grouped by nor a number; add it to `group by` (line 1, column 8)",
    ),
    ("select cont(*) from t", "there is no function 'cont'; did you mean 'count'? (line 1, column 8)"),
    ("select count(*) from t where agee = 3", "did you mean 'age'? (line 1, column 30)"),
    ("select * from t", "there are no rows to show; ask for numbers"),
    ("delete from t", "only `select` is answered: nothing in a release is changed"),
    ("select count(*) from t; drop table t", "only `select` is answered"),
    ("select variance(age) from t", "a variance is that of all rows: var_pop(...); statistics alone have one"),
    ("select max(age) from t", "cannot read 'MAX(age)' as a number; ask for count(*)"),
    ("select count(*) as from t", "cannot read this as SQL at 't' (line 1, column 25)"),
    ("select count(*) from t order by nope", "'nope' is no column of the answer; there are count,"),
    ("select count(*) from t where age = (select 1)", "a statement has no subquery"),
    ("select count(*) from t where sex = 'X'", "sex has no value 'X'; it has F, M"),
]
