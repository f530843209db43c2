"""Fixtures to follow the runbooks in Acme."""

from __future__ import annotations

from tests.chain.conftest import chain, open_chain, openings

__all__ = ["chain", "open_chain", "openings"]
