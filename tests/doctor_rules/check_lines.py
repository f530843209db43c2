"""Checks as lines."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.doctor_rules.check import Check


def lines_of(checks: Iterable[Check]) -> list[str]:
    return [f"{check.state}: {check.text}" for check in checks]
