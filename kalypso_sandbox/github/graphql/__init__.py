"""GraphQL, by graphql-core over a part of GitHub's schema."""

from kalypso_sandbox.github.graphql import queries

__all__ = ["queries"]
