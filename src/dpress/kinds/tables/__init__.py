"""Tables of counts: a histogram, or marginals of several attributes, from a table or from a collection."""
