"""Random templates: the same for the same seed, and of every shape."""

import pytest

from tools.oracle.generator import generate


@pytest.mark.parametrize("number", range(20))
def test_a_seed_and_a_number_say_it_all(number: int) -> None:
    assert generate(7, number) == generate(7, number)


def test_seeds_differ() -> None:
    assert [str(generate(1, n).template) for n in range(20)] != [
        str(generate(2, n).template) for n in range(20)
    ]


@pytest.mark.parametrize(
    "wanted",
    ["range", "with", "if", "else if", "else with", "break", "continue", "define", "template"],
)
def test_every_keyword_occurs(wanted: str) -> None:
    assert any(wanted in str(generate(3, number).template) for number in range(400))


def test_data_is_as_a_request_wants_it() -> None:
    request = generate(1, 1).request()
    assert request["op"] == "template"
    assert isinstance(request["text"], str)
    assert isinstance(request["data"], dict)
