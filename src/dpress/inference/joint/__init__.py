"""Joint distributions: tables that agree, likelihoods of reports, and one distribution fitted to either."""
