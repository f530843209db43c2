"""Environments, tracking, and what comes next."""
