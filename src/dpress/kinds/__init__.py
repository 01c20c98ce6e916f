"""One room for every kind of release: from spec to candidates, from measurement to answers, evaluation, page."""
