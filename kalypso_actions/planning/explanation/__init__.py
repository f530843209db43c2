"""A snapshot and a question → explanations of the environment, as parts of a document.

environment.py   the fleet, its schedule and its configuration, which all answers share
names.py         the targets and cluster types that a question names
pairs.py         the policies that select a pair, and the terms that fail
values.py        the layers of a configuration value
files.py         the Template of a file, and the values that it reads
"""

from kalypso_actions.planning.explanation.environment import ExplainedEnvironment
from kalypso_actions.planning.explanation.files import explain_file
from kalypso_actions.planning.explanation.names import Question
from kalypso_actions.planning.explanation.pairs import (
    decision_entry,
    explain_pairs,
    explain_policies,
)
from kalypso_actions.planning.explanation.values import explain_key

__all__ = [
    "ExplainedEnvironment",
    "Question",
    "decision_entry",
    "explain_file",
    "explain_key",
    "explain_pairs",
    "explain_policies",
]
