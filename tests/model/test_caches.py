"""The cache is bounded by the size of its entries."""

from __future__ import annotations

from kalypso_actions.model.caches import IdentityCache, SizedCache


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


def test_each_object_has_its_own_result_made_once() -> None:
    cache: IdentityCache[list[int], int] = IdentityCache(10)
    made: list[list[int]] = []

    def make(*items: list[int]) -> int:
        made.extend(items)
        return len(made)

    first, equal = [1], [1]
    assert [cache.result(make, first), cache.result(make, equal), cache.result(make, first)] == [
        *(1, 2, 1),
    ]
    assert cache.result(make, first, equal) == 4


def test_no_object_gets_the_result_of_a_freed_one() -> None:
    """Python gives the id of a freed list to the next one, if nothing keeps it."""
    cache: IdentityCache[list[int], int] = IdentityCache(1_000)
    assert [cache.result(sum, [number]) for number in range(500)] == [*range(500)]


def test_a_full_cache_makes_results_again() -> None:
    cache: IdentityCache[list[int], int] = IdentityCache(2)
    items = [[number] for number in range(9)]
    for _ in range(2):
        assert [cache.result(sum, item, size=1) for item in items] == [*range(9)]
    assert cache.result(sum, [7], size=3) == 7
