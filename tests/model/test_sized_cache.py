"""The cache is bounded by the size of its entries."""

from __future__ import annotations

from kalypso_actions.model.sized_cache import SizedCache


def test_a_full_cache_is_emptied() -> None:
    cache: SizedCache[str] = SizedCache(10)
    cache.put("a", "1", 6)
    cache.put("b", "2", 4)
    assert (cache.get("a"), cache.get("b")) == ("1", "2")
    cache.put("c", "3", 1)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (None, None, "3")


def test_an_entry_larger_than_the_cache_is_not_kept() -> None:
    cache: SizedCache[str] = SizedCache(10)
    cache.put("a", "1", 10)
    cache.put("b", "2", 11)
    assert (cache.get("a"), cache.get("b")) == ("1", None)
