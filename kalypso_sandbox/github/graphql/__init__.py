"""GraphQL, by graphql-core over a part of GitHub's schema."""
