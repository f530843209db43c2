"""The queries: Flux configurations by their branch, and the visible subscriptions."""

from __future__ import annotations

from typing import Final

PROPERTIES: Final = (
    *("complianceState", "provisioningState", "suspend", "errorMessage"),
    *("sourceSyncedCommitId", "sourceUpdatedAt", "statusUpdatedAt", "kustomizations", "statuses"),
)
"""Only the properties that `rows` reads: an answer may have 16 MiB (microsoft/ARI#199)."""

COLUMNS: Final = ", ".join(f"{name} = properties.{name}" for name in PROPERTIES)

QUERY: Final = """\
kubernetesconfigurationresources
| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'
| where tostring(properties.gitRepository.repositoryRef.branch) == {branch}
| where tostring(properties.gitRepository.url) contains {repository}
| project id, url = properties.gitRepository.url, {columns}
| order by id asc"""
"""One query for all states, because Azure allows about 15 queries in 5 seconds. `contains` ignores
case and matches URLs of any form; `rows` decides which of them name the repository. The order, and
the id among the columns, keep pages from repeating and skipping rows."""

FOLLOWERS: Final = """\
kubernetesconfigurationresources
| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'
| where tostring(properties.gitRepository.repositoryRef.branch) == {branch}
| project id, url = properties.gitRepository.url, kustomizations = properties.kustomizations
| order by id asc"""

LOST_CLUSTERS: Final = """\
resources
| where type =~ 'microsoft.kubernetes/connectedclusters' or \
type =~ 'microsoft.containerservice/managedclusters'
| where tostring(properties.connectivityStatus) =~ 'Offline' or \
tostring(properties.connectivityStatus) =~ 'Expired' or \
tostring(properties.powerState.code) =~ 'Stopped'
| project id, connectivity = properties.connectivityStatus, power = properties.powerState.code
| order by id asc"""
"""The clusters of the scope that are stopped or have lost their connection, usually few."""

SUBSCRIPTIONS: Final = """\
resourcecontainers
| where type =~ 'microsoft.resources/subscriptions'
| project subscriptionId
| order by subscriptionId asc"""
"""The subscriptions of the scope that the identity may read."""

ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LINE_SEPARATORS: Final = "\x85\u2028\u2029"


def flux_configurations_query(repository: str, branch: str) -> str:
    """Return the query; all URLs of the repository contain `repository`, such as `owner/name`."""
    return QUERY.format(
        branch=string_literal(branch), repository=string_literal(repository), columns=COLUMNS
    )


def followers_query(branch: str) -> str:
    """Return the query for the configurations that follow a branch of any repository."""
    return FOLLOWERS.format(branch=string_literal(branch))


def string_literal(text: str) -> str:
    """Return a text as a KQL string literal, which nothing in the text can end.

    KQL has the escapes of C# in `'…'`, and requires escaped line ends.
    """
    return "'" + "".join(map(_escaped, text)) + "'"


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character < " " or character == "\x7f" or character in LINE_SEPARATORS:
        return f"\\u{ord(character):04x}"
    return character
