"""A text that is sound with renamed words is sound, with the same objects: proof and parser agree."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kalypso_actions.errors import Location
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.planning import fleet_manifests
from kalypso_actions.planning.fleet_manifests import Checked, ManifestChecker
from kalypso_actions.planning.manifest_schemas import schema_faults, schema_words
from kalypso_actions.planning.manifests import KNOWN, ManifestRules, check_manifests
from kalypso_actions.planning.renaming import Renaming, original, rename
from kalypso_actions.rendering.outline import repeated_key
from tests.breaks import breaks, turned
from tests.builders import assignment, cluster_type, target, template

WORDS: Final = (
    "web", "web-1", "kiosk-2048", "2048", "1e3", "0x1f", "on", "true", "y", "null", "~", "kind",
    "apiVersion", "metadata", "labels", "name", "data", "Map", "ConfigMap", "List", "default",
    "Gateway", "v1", "qz", "kqza-xxx", "kqzy", "gxxx", "x" * 40 + "g", "g" * 70, "-g", "g-", "merge",
    "feature/cart", "north west", "@north", "a: b", "a #b", "'", '"', "\\", "{", "[x", "why?", "*g",
    "&g", "!g", "%g", "g:", "- g", "https://git.test/kiosk", "./kiosk", "", "nfoog", "u00e9g",
    "18192725000616962192", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
)  # fmt: skip
"""Words, and hostile texts, that targets and values may have."""

PLACES: Final = (
    "{}", '"{}"', "'{}'", "|\n    {}", ">-\n    {}", "[{}, b]", "{{a: {}, b: c}}", "{{{}: c}}",
    "&{} x", "!{} x", "!!{} x", "*{}", "x # {}", "pre-{}", "{}-post", '"\\{}"', '"\\u00{}"', "- {}",
    "1{}", "tr{}", "0x{}", "{}\n    b: c", '"{}"\n  "{}": x', "x\n  {}: y\n  {}: z", "x\n  web: {}",
)  # fmt: skip
"""What a Template writes around a value of a mapping; the value is printed at each `{}`."""

SPACE: Final = "apiVersion: acme.example/v1\nkind: Space\nmetadata: {name: a}\n"
KEYS: Final = frozenset(WORDS) | {"<<", "1", "1.0", "app", "key", "name", "c", "b"}

OBJECT: Final = """\
apiVersion: {}
kind: {}
metadata:
  name: {}
  namespace: {}
  labels:
    app: {}
{}:
  key: {}
"""


def files(seed: int) -> Iterator[tuple[Assignment, bytes]]:
    """Yield assignments with a file that a Template made of their texts and others."""
    choose = random.Random(seed)
    for _ in range(60):
        texts = [choose.choice(WORDS) for _ in range(7)]
        owner = assignment(
            target(texts[0] or "a", workload=texts[1], manifests={"a": texts[2]}, b=texts[3]),
            cluster_type(texts[4] or "b"),
        )
        usual = ("v1", choose.choice(("ConfigMap", "Gateway")), "a", "b", "c", "data", "d")
        values = [
            choose.choice(PLACES)
            .replace("{}", choose.choice(texts))
            .replace("{{", "{")
            .replace("}}", "}")
            if choose.random() < 0.3
            else text
            for text in usual
        ]
        documents = [OBJECT.format(*values)]
        if choose.random() < 0.3:
            documents.append(OBJECT.format(*usual[:2], choose.choice(texts), *usual[3:]))
        yield owner, "---\n".join(documents).encode()


def parsed(content: bytes) -> tuple[list[str], set[tuple[str, ...]]]:
    """Return the problems and the objects of a file, without renaming anything."""
    known: dict[tuple[str, ...], Location] = {}
    rules = ManifestRules(schema_errors=schema_faults, are_of_application=False)
    _, findings = check_manifests(Location("", "namespace.yaml"), content, rules, known=known)
    return [item.message for item in (*findings.problems, *findings.warnings)], {
        (kind, group, *names) for group, kind, *names in known
    }


def objects(checked: Checked, index: int = 0) -> set[tuple[str, ...]]:
    """Return the identities of the objects of a file."""
    return {
        tuple(part.decode("unicode_escape") for part in identity.split(b"\0"))
        for identity in [*checked.objects][index][1]
    }


@breaks(
    "words without a letter of texts alone are renamed",
    turned(
        "kalypso_actions.planning.renaming.Renaming._is_suitable",
        "_OF_TEXTS_ALONE.search(word)",
        "word",
    ),
)
@breaks(
    "new words are shorter than the old ones",
    turned("kalypso_actions.planning.renaming._new_word", "start.ljust(length, 'x')", "start"),
)
@pytest.mark.parametrize("seed", range(60))
def test_the_proof_and_the_parser_agree(seed: int) -> None:
    """Of each file alone, and beside another one."""
    checker = ManifestChecker([template("namespace", "")])
    proved, beside = 0, SPACE.encode()
    for owner, content in files(seed):
        problems, expected = parsed(content)
        alone = checker.check(owner, {"namespace.yaml": content})
        both = checker.check(owner, {"namespace.yaml": content, "reconciler.yaml": beside})
        for checked in (alone, both):
            assert [fault.message for fault in checked.files[0].faults] == problems, content
            assert objects(checked) == expected, content
        assert objects(both, 1) == parsed(beside)[1]
        if not problems:
            beside = content
            proved += 1
            assert repeated_key({"": content}, KEYS, owner.target, lambda _: None) is None, content
    assert proved > 5


SPELLINGS: Final = (
    "a",
    "'a'",
    '"\\x61"',
    "!!str a",
    "? a\n  ",
    "<<",
    "1",
    "'1'",
    "null",
    "~",
    "''",
    "é",
)


@breaks(
    "files with a fault count as proved",
    turned(
        "kalypso_actions.planning.fleet_manifests.ManifestChecker.is_sound",
        "all(fault.wanted for fault in faults)",
        "True",
    ),
)
@pytest.mark.parametrize(
    "body", ["{}: x\n  {}: y", "k: {{{}: x, {}: y}}", "{}: {{c: d}}\n  {}: []"]
)
def test_a_sound_file_has_no_key_twice(body: str) -> None:
    """So nobody searches such a file for keys of an application that the Template has as well."""
    checker, sound = ManifestChecker([template("namespace", "")]), 0
    owner = assignment(target("web"), cluster_type("large"))
    keys = {"a", "<<", "1", "null", "~", "", "é"}
    for pair in itertools.product(SPELLINGS, SPELLINGS):
        files = {"namespace.yaml": f"{SPACE}spec:\n  {body.format(*pair)}\n".encode()}
        if checker.is_sound(owner, files):
            sound += 1
            assert repeated_key(files, keys, owner.target, lambda _: None) is None, pair
    assert sound


KUSTOMIZATION: Final = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}}}
spec:
  prune: true
  sourceRef: {{kind: GitRepository, name: {name}}}
{more}"""


@breaks(
    "a fault that depends on words is taken from another file",
    turned(
        "kalypso_actions.planning.fleet_manifests._as_shown",
        "OF_FIELDS.issuperset(codes)",
        "True",
    ),
)
@pytest.mark.parametrize(
    ("more", "words", "read"),
    [
        pytest.param("", [f"kiosk-{number:02}" for number in range(10)], 2, id="a missing field"),
        # Only the second is near a field, `timeout`.
        pytest.param("  interval: 1m\n  {name}: x\n", ["wonkywxk", "timeoutk"], 3, id="a word"),
    ],
)
def test_faults_of_fields_are_read_in_one_file(
    more: str, words: list[str], read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[bytes] = []
    check = fleet_manifests._checked_text

    def counted(file: str, content: bytes) -> Any:
        texts.append(content)
        return check(file, content)

    monkeypatch.setattr(fleet_manifests, "_checked_text", counted)
    checker = ManifestChecker([template("namespace", "")])
    for word in words:
        content = KUSTOMIZATION.format(name=word, more=more.format(name=word)).encode()
        owner = assignment(target(word), cluster_type("type"))
        checked = checker.check(owner, {"namespace.yaml": content})
        problems, expected = parsed(content)
        assert [fault.message for fault in checked.files[0].faults] == problems != []
        assert objects(checked) == expected
    assert len(texts) == read


@pytest.mark.parametrize("seed", range(10))
def test_renaming_is_undone(seed: int) -> None:
    renaming = Renaming(KNOWN)
    for owner, content in files(seed):
        words = renaming.words(owner)
        if b"qz" not in content:
            assert original(rename(content, words), words) == content


def test_the_files_of_many_assignments_become_one() -> None:
    renaming = Renaming(KNOWN)
    texts = set()
    for number in range(100, 200):
        owner = assignment(
            target("web", workload=f"app-{number}", manifests={"path": f"./apps/app-{number}"}),
            cluster_type(f"large-{number}"),
        )
        content = f"name: {owner.target.name}\npath: ./apps/app-{number}\ntype: large-{number}\n"
        texts.add(rename(content.encode(), renaming.words(owner)))
    assert len(texts) <= 2  # "apps" is common after a while


def test_words_of_a_pattern_stay() -> None:
    """`^(http|https|ssh)://` refuses a renamed URL, so each file would be read by itself."""
    owner = assignment(target("web", manifests={"repo": "https://git.test/web"}), cluster_type("b"))
    renamed = Renaming((*KNOWN, *schema_words())).words(owner)
    assert b"https" not in dict(renamed)


@pytest.mark.parametrize("seed", range(60))
def test_go_refuses_nothing_that_is_not_read_by_its_rules(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most texts are not read by Go's rules, because they have nothing that differs."""
    contents = [content for _, content in files(seed)]
    problems = [parsed(content) for content in contents]
    monkeypatch.setattr("kalypso_actions.planning.manifests.MAY_DIFFER", re.compile(""))
    assert [parsed(content) for content in contents] == problems
