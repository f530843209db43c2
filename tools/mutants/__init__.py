"""Break the promotion chain on purpose: a test must catch each break.

`python -m tools.mutants` breaks a copy of the package in one way after the other, and runs the
tests that should notice. It prints a table, and fails if no test notices a break, or if the text to
replace is no longer there.

breaks    the form of a break; `*_breaks` say what is broken, and which tests should notice
trials    one break: the copy, the tests, how they ended
table     all of them, for people
"""
