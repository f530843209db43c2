"""Manifests are checked as kustomize reads them for Flux, and as Kubernetes takes them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.planning.application.applications import POSIX, PROGRAMS, Application, find_program

HEAD: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
OTHER: Final = HEAD.replace("name: a", "name: b")
CONFIGS: Final = {"a/values.yaml": ""}

REFUSED: Final = {
    "a key twice": (HEAD + 'data:\n  x: "1"\n  x: "2"\n', 6),
    "a key twice in a map of one line": (HEAD + "data: {x: a, z: b, x: c}\n", 4),
    "a key twice, once in quotes": (HEAD + 'data:\n  "1": a\n  1: b\n', 6),
    "two merge keys": (
        "apiVersion: v1\nkind: A\nmetadata: {name: a}\na: &a {x: 1}\nb: &b {z: 1}\n"
        "c:\n  <<: *a\n  <<: *b\n",
        8,
    ),
    "a generated name": ("apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n", 1),
    "no name": ("apiVersion: v1\nkind: Service\nmetadata: {}\n", 1),
    "no kind": ("apiVersion: v1\nmetadata: {name: a}\n", 1),
    "an object twice": (f"{HEAD}---\n{OTHER}---\n{HEAD}", 11),
    "an object twice, once with the default namespace": (
        HEAD + "---\n" + HEAD.replace("name: a", "namespace: default, name: a"),
        7,
    ),
    "an object twice in a list": (
        "apiVersion: v1\nkind: List\nitems:\n"
        + "".join(f"- apiVersion: v1\n  kind: A\n  metadata: {{name: {name}}}\n" for name in "aba"),
        12,
    ),
    "an item without a kind": (
        "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n",
        4,
    ),
    "items that are no list": ("apiVersion: v1\nkind: List\nitems: {a: b}\n", 3),
    "text behind ---": (HEAD + "--- {apiVersion: v1, kind: A, metadata: {name: a}}\n", 4),
    "a question mark in a map of one line": (HEAD + "data: {a: why?}\n", 4),
    "a question mark in a second document": (f"{HEAD}---\n{OTHER}data: {{a: b?c}}\n", 8),
    "a tag that does not fit": (HEAD + "data:\n  a: !!int x\n", 5),
    "a key that is a number": (HEAD + "data:\n  8080: x\n", 5),
    "a number that JSON does not have": (HEAD + "spec: {a: .nan}\n", 4),
    "a list": (HEAD + "---\n- a\n", 5),
    "a text": (HEAD + "---\na\n", 5),
}
"""What kustomize refuses, and the line of the fault."""

ACCEPTED: Final = {
    "an object": HEAD,
    "a list": f"apiVersion: v1\nkind: List\nmetadata: {{}}\nitems:\n- {HEAD.replace(chr(10), chr(10) + '  ')}",
    "a list of its own kind": "apiVersion: v1\nkind: ConfigMapList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n"
    "  metadata: {name: a}\n",
    "a list in a list": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: RoleList\n  items:\n"
    "  - apiVersion: v1\n    kind: Role\n    metadata: {name: a}\n",
    "an empty list": f"apiVersion: v1\nkind: List\nitems: []\n---\n{HEAD}",
    "a list without items": f"apiVersion: v1\nkind: List\nitems:\n---\n{HEAD}",
    "a kind that is no list": "apiVersion: acme.example/v1\nkind: AllowList\nmetadata: {name: a}\n",
    "a byte order mark": f"\ufeff{HEAD}",
    "Windows' line ends": (HEAD + "data:\n  x: |\n    a\n    b\n---\n" + OTHER).replace(
        "\n", "\r\n"
    ),
    "a mark and Windows' line ends": f"\ufeff{HEAD}".replace("\n", "\r\n"),
    "UTF-16": (HEAD + "data: {x: é}\n").encode("utf-16"),
    "several namespaces": HEAD + "---\n" + HEAD.replace("name: a", "name: a, namespace: b"),
    "comments behind ---": f"{HEAD}--- # b\n{OTHER}",
    "nothing but comments": f"{HEAD}---\n# nothing\n",
    "labels of nothing": HEAD.replace("name: a", "name: a, labels: , annotations: {a: }"),
    "texts in quotes": HEAD.replace("name: a", "name: a, labels: {v: '1.10'}")
    + 'data: {a: "0755"}\n',
    "a date in quotes": HEAD + 'data: {a: "2024-01-01"}\n',
    "a question mark in a block": HEAD + "data:\n  a: why?\n",
    "a tag that nobody knows": HEAD + "data:\n  a: !x b\n",
    "an anchor": HEAD + "data: {a: &x b, c: *x}\n",
    "dollars": HEAD
    + "data:\n  a: $http_host {{ $labels.pod }}\n  b: $2a$10$N9qo8uLOickgx2ZMRZoMye\n",
    "no final line end": HEAD.rstrip("\n"),
}


def kustomize(folder: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("kustomize", path=PROGRAMS)
    assert program
    return subprocess.run([program, "build", folder], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_what_kustomize_refuses_is_refused(tmp_path: Path, text: str, line: int) -> None:
    find_program("kustomize")
    (tmp_path / "kustomization.yaml").write_text("resources: [a.yaml]\n")
    (tmp_path / "a.yaml").write_text(text)
    assert kustomize(tmp_path).returncode != 0
    done = Application(tmp_path).render(source={"manifests/a.yaml": text}, configs=CONFIGS)
    assert done.status == 1
    assert [place[1:] for place in done.places()] == [("manifests/a.yaml", line)], done.messages()


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_what_kustomize_accepts_is_accepted(tmp_path: Path, text: str | bytes) -> None:
    find_program("kustomize")
    source = {"manifests/a.yaml": text, "manifests/z.yaml": HEAD.replace("name: a", "name: z")}
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.status == 0, done.messages()
    built = kustomize(tmp_path / "out" / "a")
    assert built.returncode == 0, built.stderr
    assert "name: z" in built.stdout


TEXTS: Final = {
    "a label": ("metadata: {name: a, labels: {v: 1.10}}\n", "metadata.labels.v is 1.10"),
    "an annotation": ("metadata:\n  name: a\n  annotations:\n    v: true\n", "is true"),
    "a namespace": ("metadata: {name: a, namespace: 7}\n", "metadata.namespace is 7"),
    "labels that are a list": ("metadata: {name: a, labels: [a]}\n", "is a list"),
    "a label of a pod": (
        "metadata: {name: a}\nspec:\n  template:\n    metadata: {labels: {v: 0755}}\n",
        "spec.template.metadata.labels.v is 0755",
    ),
    "a selector": ("metadata: {name: a}\nspec: {selector: {matchLabels: {v: 1e3}}}\n", "is 1e3"),
    "a node": ("metadata: {name: a}\nspec: {nodeSelector: {gpu: yes}}\n", "is yes"),
    "a variable": (
        "metadata: {name: a}\nspec:\n  containers:\n  - name: a\n    env:\n    - name: PORT\n"
        "      value: 8080\n",
        "spec.containers.0.env.0.value is 8080",
    ),
    "an image": (
        "metadata: {name: a}\nspec: {initContainers: [{name: a, image: 20240101}]}\n",
        "spec.initContainers.0.image is 20240101",
    ),
    "an argument": (
        "metadata: {name: a}\nspec: {containers: [{name: a, args: [--version, 1.10]}]}\n",
        "spec.containers.0.args.1 is 1.10",
    ),
    "data": ("metadata: {name: a}\ndata: {tag: 20240101}\n", "data.tag is 20240101"),
    "a date": ("metadata: {name: a}\ndata: {tag: 2024-01-01}\n", "the date 2024-01-01"),
    "nothing by name": ("metadata: {name: a}\ndata: {tag: null}\n", "data.tag is null"),
    "a map": ("metadata: {name: a}\ndata: {tag: {a: b}}\n", "data.tag is a map"),
}


@pytest.mark.parametrize(("text", "words"), TEXTS.values(), ids=TEXTS)
def test_values_that_are_no_texts_are_refused(tmp_path: Path, text: str, words: str) -> None:
    source = {"manifests/a.yaml": "apiVersion: v1\nkind: ConfigMap\n" + text}
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.codes() == ["manifest-not-text"]
    assert words in done.messages()
    done = Application(tmp_path).render("--compatibility=current", source={}, configs=CONFIGS)
    assert (done.status, done.codes("warnings")) == (0, ["manifest-not-text"])


@pytest.mark.parametrize(
    "text",
    [
        "kind: HelmRelease\nmetadata: {name: a}\nspec: {values: {env: [{name: A, value: 5}]}}\n",
        "kind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {versions: [{schema: "
        "{openAPIV3Schema: {properties: {matchLabels: {nullable: true}}}}}]}\n",
        "kind: Settings\nmetadata: {name: a}\ndata: {size: 5, image: 7, args: [1]}\n",
    ],
    ids=["values of another chart", "a schema", "data of another kind"],
)
def test_other_values_may_be_numbers(tmp_path: Path, text: str) -> None:
    source = {"manifests/a.yaml": f"apiVersion: acme.example/v1\n{text}"}
    assert Application(tmp_path).render(source=source, configs=CONFIGS).status == 0


def test_an_object_of_two_files(tmp_path: Path) -> None:
    source = {"manifests/a.yaml": HEAD, "manifests/b.yaml": f"{OTHER}---\n{HEAD}"}
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.places() == [("manifest-duplicate", "manifests/b.yaml", 7)]
    assert "manifests/a.yaml:3" in done.messages()


TWO_FILES: Final = f'printf "{HEAD}" > $KALYPSO_OUT/a.yaml; printf "{HEAD}" > $KALYPSO_OUT/b.yaml'


@POSIX
@pytest.mark.parametrize(
    "own", ["", "; echo 'resources: [a.yaml]' > $KALYPSO_OUT/kustomization.yml"]
)
def test_an_object_of_two_files_of_a_command(tmp_path: Path, own: str) -> None:
    """With a kustomization of its own, the command decides what its other files are."""
    command = f"--generator-command={TWO_FILES}{own}"
    done = Application(tmp_path).render("--generator=command", command, source={}, configs=CONFIGS)
    assert done.codes() == ([] if own else ["manifest-duplicate"])
    assert ("a/kustomization.yml" in done.files, "a/kustomization.yaml" in done.files) == (
        bool(own),
        False,
    )


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    source = {"manifests/a.yaml": HEAD.encode() + b"# \xff\n"}
    done = Application(tmp_path).render(source=source, configs={**CONFIGS, "b/values.yaml": ""})
    assert done.places() == [("file-not-utf-8", "manifests/a.yaml", 4)]


def test_other_files_beside_the_manifests_are_left_out(tmp_path: Path) -> None:
    source = {"manifests/a.yaml": HEAD, "manifests/README.md": "# Manifests: these\n"}
    done = Application(tmp_path).render(source=source, configs=CONFIGS)
    assert done.status == 0, done.messages()
    assert "README" not in done.files["a/gen_manifests.yaml"]
