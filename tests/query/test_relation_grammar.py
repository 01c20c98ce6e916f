"""Relations as texts: what is read, what it reads back as, and what is refused."""

import pytest

from dpress.query.grammar import read
from dpress.query.query_words import begins_relation
from dpress.query.relation_grammar import relation

NAMES = ("age", "cost", "sex", "hours worked")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("cost ~ age + sex", "cost ~ age + sex"),
        ("cost~age*sex", "cost ~ age * sex"),
        ("Correlation age, cost", "correlation age cost"),
        ("covariance 'hours worked' and age", "covariance hours worked age"),
        ("coefficient age * sex = m in cost ~ age * sex", "coefficient age * sex = m in cost ~ age * sex"),
        ("intercept in hours worked ~ age", "intercept in hours worked ~ age"),
        ("rank correlation age, cost", "rank correlation age cost"),
        ("Rank  Correlation age and hours worked", "rank correlation age hours worked"),
        ("independence sex age", "independence sex age"),
        ("P-value in independence sex age", "p-value in independence sex age"),
        ("cramer v in independence sex and age", "cramer v in independence sex age"),
        ("logistic sex=m ~ age * cost", "logistic sex = m ~ age * cost"),
        ("Logistic sex ~ age", "logistic sex ~ age"),
        ("logistic age in 20..29 or age > 60 ~ cost", "logistic age in 20..29 or age > 60 ~ cost"),
        ("coefficient age in logistic sex in (m, x) ~ age", "coefficient age in logistic sex in (m, x) ~ age"),
    ],
)
def test_a_relation_reads_as_what_it_is_written_as(text: str, written: str) -> None:
    query = read(NAMES, f"{text} where sex = f by age")
    assert (query.of, query.attribute, query.by) == ("relation", written, ("age",))
    assert query.where is not None
    assert read(NAMES, query.text) == query
    assert relation(NAMES, written).text == written


def test_products_are_those_of_every_term_once() -> None:
    assert relation(NAMES, "cost ~ age * sex + age").products == (("age",), ("sex",), ("age", "sex"))


def test_a_value_with_a_tilde_is_no_relation() -> None:
    assert not begins_relation("sex = 'a ~ b'")
    assert read(NAMES, "sex = 'a ~ b'").of == "count"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cost ~ agee", "did you mean 'age'"),
        ("cost ~ age +", "a name is missing"),
        ("cost ~", "write `covariance NAME NAME`"),
        ("cost ~ age ~ sex", "write `covariance NAME NAME`"),
        ("cost ~ cost", "on both sides"),
        ("cost ~ age * age", "twice in a term"),
        ("correlation age", "of two attributes"),
        ("correlation age age", "of two attributes"),
        ("correlation age cost sex", "of two attributes"),
        ("cost ~ age where", "needs a condition"),
        ("independence sex", "write `independence NAME NAME`, of two attributes"),
        ("rank correlation sex sex", "write `rank correlation NAME NAME`, of two attributes"),
        ("p-value in correlation sex age", "cannot read"),
        ("logistic sex = m and age = 3 ~ cost", "is about one attribute; write `logistic NAME = VALUE ~"),
        ("logistic sex = m ~ sex", "on both sides"),
        ("logistic total ~ sex", "there is no attribute 'total'"),
    ],
)
def test_what_is_no_relation_is_refused_with_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(NAMES, text)
