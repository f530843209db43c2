"""GitHub in the sandbox: one module for each part of its API."""
