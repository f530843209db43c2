"""GitHub: the rules for requests, branches and pull requests, and the API on top of them."""
