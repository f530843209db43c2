"""No registered repository takes more than 10 s of the processor and 256 MB; it becomes invalid."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kalypso_actions.sources.limits import Limits, registration_limits
from tests.breaks import breaks, turned
from tests.hostile.attacks import read_built_registration, read_registration, registered
from tests.hostile.conftest import Attack

KEYS = b"".join(b"k%d: 1\n" % number for number in range(800_000))
TEXT = b"a: " + b"x" * 9_900_000
ALIASES = b"a: &a [" + b"1," * 900 + b"1]\nb: [" + b"*a," * 900 + b"*a]\n"
WORKLOAD = b"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: w}\n"
IGNORE = b"".join(b"file-%d*.yaml\n" % number for number in range(998))


def ignore(folder: int) -> bytes:
    return IGNORE + b"more-%d\n" % folder


BUILD = {"kustomization.yaml": b"resources: [a.yaml]\nnamePrefix: x-\n", "a.yaml": WORKLOAD}

CHAIN = {
    f"{'a/' * level}kustomization.yaml": b"resources: [a]\n" + b"#" * 400 for level in range(90)
}


@breaks(
    "values behind aliases do not count",
    turned(
        "kalypso_actions.sources.yaml_documents._Composer._alias",
        "self._count(anchor.values, event)",
        "self._count(0, event)",
    ),
)
@breaks(
    "a registration's text has no limit",
    turned(
        "kalypso_actions.commands.shared.reading.document_reader._Rounds._excess",
        "size <= self.limits.text_bytes",
        "True",
    ),
)
@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param(
            {f"{number}.yaml": TEXT for number in range(1_000)},
            "more than 10 MiB together",
            id="one large blob of a thousand names",
        ),
        pytest.param(
            {f"{number}.yaml": b"a: " + b"x" * 2_000 for number in range(6_000)},
            "more than 10 MiB together",
            id="one small blob of thousands of names",
        ),
        pytest.param(
            {"a.yaml": KEYS},
            "more than 400,000 values",
            id="many keys",
        ),
        pytest.param({"a.yaml": ALIASES}, "more than 400,000 values", id="aliases"),
        pytest.param(
            {f"{number}/.sourceignore": ignore(0) for number in range(200)},
            "more than 20 .sourceignore files",
            id="one ignore file in many folders",
        ),
        pytest.param(
            {f"{number}/.sourceignore": ignore(number) for number in range(20)},
            "more than 2000 lines together",
            id="long ignore files",
        ),
        pytest.param(
            {f"{number}.yaml": b"a: %d" % number for number in range(10_001)},
            "the registration has 10,001 files to read, but the limit is 10,000",
            id="many files",
        ),
        pytest.param(CHAIN, "", id="chain of kustomizations"),
        pytest.param(
            {
                "a/kustomization.yaml": BUILD["kustomization.yaml"],
                "a/a.yaml": TEXT,
                "a/b.yaml": TEXT,
            },
            "more than 10 MiB together",
            id="large build",
        ),
        pytest.param(
            {
                f"{number}/{name}": content
                for number in range(300)
                for name, content in BUILD.items()
            },
            "kustomize would build more than 8 folders",
            id="many builds",
        ),
    ],
)
def test_too_much(attack: Attack, tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    path = registered(tmp_path / "app", files)
    cost = attack(read_registration, path, seconds=10, megabytes=256)
    assert cost.text.startswith("kept: ")
    assert message in cost.text


def large_compressible_files() -> dict[str, bytes]:
    return {f"{number}.yaml": b"a: %d" % number + b"x" * 10_000_000 for number in range(100)}


def listed_files() -> dict[str, bytes]:
    return {f"{number // 500}/{number}.txt": b"" for number in range(250_000)}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (large_compressible_files, "more than 10 MiB together"),
        (listed_files, "the folder '.' has 250000 files, but the limit is 50000"),
    ],
)
def test_far_too_much(
    attack: Attack, tmp_path: Path, files: Callable[[], dict[str, bytes]], message: str
) -> None:
    path = registered(tmp_path / "app", files())
    cost = attack(read_registration, path, seconds=10, megabytes=256)
    assert message in cost.text


OBJECT = b"apiVersion: v1\nkind: C\nmetadata: {name: a%d}\n---\n"
PATCH = b"- {target: {kind: C}, patch: '[{op: add, path: /x, value: 1}]'}\n"
OBJECTS = b"".join(OBJECT % number for number in range(3_000))
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + level, 98 + level, b",".join([b"*%c" % (97 + level)] * 9))
    for level in range(8)
)

BUILDS = {
    "many patches": (
        {
            "r.yaml": OBJECTS,
            "kustomization.yaml": b"resources: [r.yaml]\npatches:\n" + PATCH * 3_000,
        },
        "takes more than 1 s of the processor",
    ),
    "the same base many times": (
        {
            "kustomization.yaml": b"resources: [a0, b0]\n",
            **{
                f"{name}{level}/kustomization.yaml": b"namePrefix: %s-\nresources: [../a%d, ../b%d]\n"
                % (name.encode(), level + 1, level + 1)
                for name in "ab"
                for level in range(16)
            },
            **{
                f"{name}16/kustomization.yaml": b"namePrefix: %s-\nresources: [r.yaml]\n"
                % name.encode()
                for name in "ab"
            },
            "a16/r.yaml": OBJECT % 1,
            "b16/r.yaml": OBJECT % 2,
        },
        "takes more than 1 s of the processor",
    ),
    "aliases": (
        {
            "r.yaml": BOMB + OBJECT % 1,
            "kustomization.yaml": b"resources: [r.yaml]\nnamePrefix: x-\n",
        },
        "probably needs more than 192 MB of memory",
    ),
}


@pytest.mark.skipif(not shutil.which("kustomize"), reason="kustomize is not installed")
@pytest.mark.parametrize(
    ("files", "message"),
    BUILDS.values(),
    ids=BUILDS,
)
def test_builds_by_kustomize(
    attack: Attack, tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    path = registered(tmp_path / "app", files)
    cost = attack(read_built_registration, path, seconds=10, megabytes=256)
    assert cost.text.startswith("kept: ")
    assert message in cost.text


def workload(number: int, targets: int, environment: str = "dev") -> bytes:
    targets_of_it = b"".join(
        b"  - name: t%d-%d\n    environment: %s\n    labels: {region: west, tier: front}\n"
        b"    manifests: {repo: https://github.com/acme/w%d, branch: main, path: ./t%d}\n"
        % (number, target, environment.encode(), number, target)
        for target in range(targets)
    )
    name = WORKLOAD.replace(b"w}", b"w%d-%s}" % (number, environment.encode()))
    return name + b"spec:\n  deploymentTargets:\n" + targets_of_it


def test_a_repository_with_5000_targets(attack: Attack, tmp_path: Path) -> None:
    path = registered(tmp_path / "app", {"workload.yaml": workload(1, 5_000)})
    assert attack(read_registration, path, seconds=10, megabytes=256).text.startswith("head: []")


def test_a_file_for_each_of_many_workloads(attack: Attack, tmp_path: Path) -> None:
    files = {f"{number}/workload.yaml": workload(number, 2) for number in range(2_500)}
    path = registered(tmp_path / "app", files)
    assert attack(read_registration, path, seconds=10, megabytes=256).text.startswith("head: []")


def test_many_targets_in_one_file_for_each_environment(attack: Attack, tmp_path: Path) -> None:
    files = {f"{name}.yaml": workload(1, 10_000, name) for name in ("dev", "stage", "prod")}
    path = registered(tmp_path / "app", files)
    assert attack(read_registration, path, seconds=10, megabytes=256).text.startswith("head: []")


def test_a_larger_limit_of_targets_allows_larger_files() -> None:
    assert registration_limits(5_000) == registration_limits(10_000) == Limits()
    assert registration_limits(25_000) == Limits(
        files=30_000, text_bytes=30 << 20, values=1_200_000
    )
