"""A strict subset of the Kusto query language, for Kalypso's queries of Resource Graph.

syntax      the parts of a query, and the error for an invalid one
lexer       text → tokens
parser      tokens → query
execution   query × rows → rows

Operators: `where` (==, !=, =~, contains, has, startswith, and, or, parentheses), `project`,
`order by`, `take`, `limit`; functions: `tostring`, `tolower`. This package refuses everything else,
as Azure refuses an invalid query, because a test with a misread query would prove nothing.
"""

from kalypso_sandbox.azure.kql.execution import Result, execute
from kalypso_sandbox.azure.kql.parser import parse
from kalypso_sandbox.azure.kql.syntax import Query, QueryError

__all__ = ["Query", "QueryError", "Result", "execute", "parse"]
