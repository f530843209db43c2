"""Break the promotion chain on purpose: a test must catch each break.

`python -m tools.mutants` breaks a copy of the package in one way after the other, and runs the
tests that should notice. It prints a table, and fails if no test notices a break, or if the text to
replace is no longer there.

breaks      the form of a break
access_breaks, chain_breaks, cost_breaks, placement_breaks, preview_breaks, promotion_breaks,
scale_breaks, unchanged_breaks
            what is broken, and which tests should notice
all_breaks  all of these
trials      one break: the copy, the tests, how they ended
table       the results of all, for people
"""
