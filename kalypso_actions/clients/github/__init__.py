"""GitHub by its REST and GraphQL APIs."""
