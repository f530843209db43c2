"""The promotion chain broken on purpose: each break must be caught by a test.

`python -m tools.mutants` breaks a copy of the package in one way after the other, and runs the
tests that should notice. It prints a table, and fails where a break is noticed by none, or where
the text that it replaces is no longer there.

breaks    what is broken, where, and which tests should notice
trials    one break: the copy, the tests, how they ended
table     all of them, for people
"""
