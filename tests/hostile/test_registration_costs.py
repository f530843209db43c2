"""No registered repository takes more than 10 s of the processor and 256 MB; it becomes invalid."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.attacks import read_built_registration, read_registration, registered
from tests.hostile.conftest import Attack

KEYS = b"".join(b"k%d: 1\n" % number for number in range(40_000))
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


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param(
            {f"{number}.yaml": TEXT for number in range(1_000)},
            "more than 1024 KiB together",
            id="one large blob of a thousand names",
        ),
        pytest.param(
            {f"{number}.yaml": b"a: " + b"x" * 2_000 for number in range(1_000)},
            "more than 1024 KiB together",
            id="one small blob of a thousand names",
        ),
        pytest.param(
            {f"{number}.yaml": KEYS for number in range(2)},
            "more than 20000 values",
            id="many keys",
        ),
        pytest.param({"a.yaml": ALIASES}, "more than 20000 values", id="aliases"),
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
            {f"{number}.yaml": b"a: %d" % number for number in range(2_500)},
            "the registration has 2500 files to read, but the limit is 2000",
            id="many files",
        ),
        pytest.param(CHAIN, "", id="chain of kustomizations"),
        pytest.param(
            {"a/kustomization.yaml": BUILD["kustomization.yaml"], "a/a.yaml": TEXT},
            "more than 1024 KiB together",
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "message"),
    [
        (large_compressible_files, "more than 1024 KiB together"),
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
    [
        pytest.param(*case, id=name, marks=pytest.mark.slow if name == "many patches" else ())
        for name, case in BUILDS.items()
    ],
)
def test_builds_by_kustomize(
    attack: Attack, tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    path = registered(tmp_path / "app", files)
    cost = attack(read_built_registration, path, seconds=10, megabytes=256)
    assert cost.text.startswith("kept: ")
    assert message in cost.text


def test_the_limits_are_far_from_real_workloads(attack: Attack, tmp_path: Path) -> None:
    files = {
        f"{number}/workload.yaml": WORKLOAD.replace(b"w}", b"w%d}" % number)
        + b"spec:\n  deploymentTargets:\n"
        + b"".join(
            b"  - {name: t%d-%d, environment: dev, manifests: {repo: r, branch: b, path: p}}\n"
            % (number, target)
            for target in range(20)
        )
        for number in range(80)
    }
    path = registered(tmp_path / "app", files)
    assert attack(read_registration, path, seconds=10, megabytes=256).text.startswith("head: []")
