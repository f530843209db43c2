"""The part of the Kusto query language that is asked of Resource Graph here, read strictly.

syntax      what a query consists of, and the error for one that is not understood
lexer       text → tokens
parser      tokens → query
execution   query × rows → rows

Operators: `where` (==, !=, =~, contains, has, startswith, and, or, parentheses), `project`,
`order by`, `take`, `limit`; functions: `tostring`, `tolower`. Whatever else the language has is
refused as Azure refuses what it does not know: a query that means something else than is computed
here would prove nothing.
"""

from kalypso_actions.sandbox.azure.kql.execution import Result, execute
from kalypso_actions.sandbox.azure.kql.parser import parse
from kalypso_actions.sandbox.azure.kql.syntax import Query, QueryError

__all__ = ["Query", "QueryError", "Result", "execute", "parse"]
