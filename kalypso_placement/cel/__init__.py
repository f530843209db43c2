"""CEL: the expressions of `celSelector`, with Kubernetes' libraries and cost limit.

    matches = CelExpressions(hub).matcher(["managedCluster.metadata.name == 'edge'"])
    matches(cluster)

cel-cpp checks an expression (`environment`), and its message becomes a function (`program`), which
calls the functions of `operators`, `strings` and `kubernetes`, and counts its cost (`limits`).
"""

from kalypso_placement.cel.environment import CelExpressions, Matcher, UnsupportedExpressionError
from kalypso_placement.cel.program import ExpressionError

__all__ = ["CelExpressions", "ExpressionError", "Matcher", "UnsupportedExpressionError"]
