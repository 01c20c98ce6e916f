"""The same tasks in Tumult Analytics 0.21. Runs in an environment of its own, with `tmlt.analytics` and Java 17."""

# ruff: noqa: ANN001, ANN201, ARG001  # as one types them; the functions are of one form

import math

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

spark = SparkSession.builder.getOrCreate()
EDUCATION = KeySet.from_dict({"education": ["Primary", "Secondary", "Vocational", "Bachelor", "Master"]})


def histogram(path, folder):
    counts = QueryBuilder("people").groupby(EDUCATION).count()
    return session(path, 1).evaluate(counts, PureDPBudget(1)).toPandas()


def mean(path, folder):
    average = QueryBuilder("people").average("age", 0, 100)
    return session(path, 1).evaluate(average, PureDPBudget(1)).toPandas()


def budget(path, folder):
    both = session(path, 1)
    average = QueryBuilder("people").average("age", 0, 100)
    both.evaluate(QueryBuilder("people").groupby(EDUCATION).count(), PureDPBudget(0.5)).toPandas()
    both.evaluate(average, PureDPBudget(0.5)).toPandas()
    both.evaluate(average, PureDPBudget(0.5)).toPandas()  # refused


def choose(path, folder):
    return math.sqrt(2) / 10  # by hand, nearly that of geometric noise: no public function predicts an error


def explain(path, folder):
    counts = histogram(path, folder)
    half = math.log(1 / 0.05)  # by hand: the library states no error and no interval
    return counts.assign(low=counts["count"] - half, high=counts["count"] + half)


def session(path, epsilon):
    return Session.from_dataframe(
        PureDPBudget(epsilon),
        "people",
        spark.read.csv(str(path), header=True, inferSchema=True),
        protected_change=AddOneRow(),
    )
