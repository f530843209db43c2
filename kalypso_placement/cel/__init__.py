"""CEL: the expressions of `celSelector`, with Kubernetes' libraries and cost limit.

checked.py       the checker's message → nodes
program.py       nodes → functions, which call operators.py, strings.py, lists.py,
                 addresses.py, formats.py, kubernetes.py
signatures.py    functions with their signatures, for the checker and at run time
values.py        values and their order
costs.py         the cost of a call
sizes.py         limits on the size of values
cluster_value.py a cluster as CEL sees it
environment.py   the checker and its declarations; the expressions of one hub
"""

from kalypso_placement.cel.environment import CelExpressions

__all__ = ["CelExpressions"]
