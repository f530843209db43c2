"""Runbooks are followed in Acme, as the stories of the chain are."""

from __future__ import annotations

from tests.chain.conftest import chain, open_chain, openings

__all__ = ["chain", "open_chain", "openings"]
