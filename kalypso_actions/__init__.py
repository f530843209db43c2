"""Kalypso inside GitHub Actions: scheduling, rendering and promotion for many clusters."""

__version__ = "0.1.0"

PROJECT_URL = "https://github.com/kalypso-actions/kalypso-actions"

ISSUES_URL = f"{PROJECT_URL}/issues"
