"""Bare git repositories, and git over HTTP."""
