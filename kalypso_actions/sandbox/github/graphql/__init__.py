"""GraphQL, by graphql-core over the part of GitHub's schema that there is."""

from kalypso_actions.sandbox.github.graphql import queries

__all__ = ["queries"]
