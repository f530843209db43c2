"""The questions to Resource Graph: which Flux configurations follow a branch, what can be seen."""

from __future__ import annotations

from typing import Final

QUERY: Final = """\
kubernetesconfigurationresources
| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'
| where tostring(properties.gitRepository.repositoryRef.branch) == {branch}
| where tostring(properties.gitRepository.url) contains {repository}
| project id, properties
| order by id asc"""
"""All states in one query, since about 15 queries in 5 seconds are allowed. `contains` ignores
case and takes URLs of any form; which of them name the repository is decided afterwards. Without
the order, and the id among the columns, pages may repeat rows and skip others."""

SUBSCRIPTIONS: Final = """\
resourcecontainers
| where type =~ 'microsoft.resources/subscriptions'
| project subscriptionId
| order by subscriptionId asc"""
"""Every subscription of the scope that the identity may read."""

ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LINE_SEPARATORS: Final = "\x85\u2028\u2029"


def flux_configurations_query(repository: str, branch: str) -> str:
    """The query in KQL. `repository` is what all URLs of it contain, such as `owner/name`."""
    return QUERY.format(branch=string_literal(branch), repository=string_literal(repository))


def string_literal(text: str) -> str:
    """A text as a KQL string, whatever it holds: nothing in it ends the string.

    KQL knows the escapes of C# in `'…'`, and wants line ends escaped.
    """
    return "'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character < " " or character == "\x7f" or character in LINE_SEPARATORS:
        return f"\\u{ord(character):04x}"
    return character
