"""No file takes the masking of secrets more than 5 s of the processor and 128 MB."""

from __future__ import annotations

import pytest

from kalypso_go.gotemplate import DEFAULT_LIMITS
from tests.hostile.attacks import mask
from tests.hostile.conftest import Attack

LENGTH = 200_000


@pytest.mark.parametrize(
    "part",
    [
        "value: a ",
        "value: a\\",
        "--password, ",
        "--password\n- ",
        "key: a\n",
        "key:" + " " * (LENGTH - 4),
        "password = <<E\n",
        "password: \\\n",
        "c2VjcmV0IG9m/",
        "a",
        " ",
        "- ",
        "a ",
        "\t",
        "key: '",
        "'key': ",
        "key=[",
        'key: \\"',
        "key:\n",
        "key: |\n x\n",
        "name: password\n",
        "- name: password\n",
        "name: password, ",
        "key=a value",
        '{"a":',
        "://",
        "eyJ-",
        "-----BEGIN ",
        "---\n",
        "<a>",
        "<a",
        "a-secret",
    ],
)
def test_a_repeated_text(attack: Attack, part: str) -> None:
    attack(mask, part * (LENGTH // len(part)))


@pytest.mark.parametrize("part", ["password:", '{"password":'])
def test_a_file_as_large_as_templates_may_print(attack: Attack, part: str) -> None:
    attack(mask, part * (DEFAULT_LIMITS.output_bytes // len(part)))
