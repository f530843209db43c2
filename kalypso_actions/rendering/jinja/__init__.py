"""Manifests written in Jinja2, for Templates annotated `kalypso.io/engine: jinja2`.

manifests.py    a text → a manifest that renders, and the place of its errors
syntax.py       the checks before anything runs, and the calls of the meter
sandbox.py      the bounds on what a template may reach, call and compute
members.py      attributes and methods of values
filters.py      the filters
tests.py        the tests
text_methods.py operations on texts that could build far larger ones
values.py       the data and Kalypso's own functions
meter.py        the limits of one rendering
"""
