"""Reading the Kubernetes objects of a file."""

from __future__ import annotations

import pytest

from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.yaml_documents import ParsedFile
from tests.sources.trees import manifest, texts


def read(text: str) -> ParsedFile:
    return read_objects("repo", "x.yaml", text.encode())


def test_objects_of_any_kind_are_returned() -> None:
    parsed = read(
        manifest("a") + "---\n" + manifest("b", "Whatever") + "---\napiVersion: v1\nkind: Pod\n"
    )
    assert [
        (document.api_version, document.kind, document.name) for document in parsed.documents
    ] == [
        ("scheduler.kalypso.io/v1alpha1", "Template", "a"),
        ("scheduler.kalypso.io/v1alpha1", "Whatever", "b"),
        ("v1", "Pod", ""),
    ]
    assert parsed.problems == parsed.warnings == ()


LIST = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: one
- apiVersion: v1
  kind: TemplateList
  items:
  - apiVersion: v1
    kind: Template
    metadata: {name: two}
  - apiVersion: v1
    kind: Template
    metadata:
      labels: {a: b}
      name: three
"""


def test_a_list_without_items_is_a_warning() -> None:
    (warning,) = read("apiVersion: v1\nkind: List\nitmes: []\n").warnings
    assert (warning.code, warning.where and warning.where.line) == ("list-without-items", 3)
    assert warning.advice == "write items instead of itmes"


def test_lists_are_expanded_and_every_item_keeps_its_lines() -> None:
    first, second, third = read(LIST).documents
    assert [first.name, second.name, third.name] == ["one", "two", "three"]
    assert [first.where.line, second.where.line, third.where.line] == [4, 11, 14]
    assert third.at("metadata", "labels", "a").line == 17
    assert first.at("metadata", "name").line == 7
    assert first.marks == {
        ("apiVersion",): (4, 3, 15),
        ("kind",): (5, 3, 9),
        ("metadata",): (6, 3, 3),
        ("metadata", "name"): (7, 5, 11),
    }


@pytest.mark.parametrize("items", ["", "items:\n", "items: []\n"])
def test_empty_list_is_fine(items: str) -> None:
    assert read(f"apiVersion: v1\nkind: ConfigMapList\n{items}") == ParsedFile()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n", "1: the document has no apiVersion and no kind"),
        ("\nkind: Template\n", "2: the document has no apiVersion"),
        ("apiVersion: v1\n", "1: the document has no kind"),
        ("apiVersion: v1\nkind: ''\n", "1: the document has no kind"),
        ("apiVersion: v1\nkind: 5\n", "2: kind must be a string"),
        ("apiVersion: [v1]\nkind: {a: b}\n", "1: apiVersion and kind must be a string"),
        ("apiVersion: v1\nkind: List\nitems: {}\n", "3: the items of a List must be a list"),
        ("apiVersion: v1\nkind: List\nitems: [x]\n", "3: an item of a List must be an object"),
        ("apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n", "4: the document has no apiVersion"),
    ],
)
def test_objects_need_api_version_and_kind(text: str, expected: str) -> None:
    parsed = read(text)
    assert texts(parsed.problems) == [f"x.yaml:{expected}"]
    assert parsed.documents == ()


@pytest.mark.parametrize("line", ["", "apiVersion:\n"])
def test_config_map_without_api_version_is_taken_with_a_warning(line: str) -> None:
    parsed = read(f"kind: ConfigMap\n{line}metadata: {{name: c}}\n")
    (document,) = parsed.documents
    assert document.body == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    assert texts(parsed.warnings) == [
        "x.yaml:1: the ConfigMap has no apiVersion; v1 is assumed, but Kubernetes would refuse it"
    ]
    assert parsed.problems == ()


def test_kustomization_in_another_file_is_passed_over_with_a_warning() -> None:
    parsed = read(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"
    )
    assert parsed.documents == ()
    assert texts(parsed.warnings) == [
        "x.yaml:1: a Kustomization of kustomize has an effect only in a kustomization.yaml"
    ]


def test_kustomization_of_flux_is_an_object_like_any_other() -> None:
    (document,) = read(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
    ).documents
    assert document.kind == "Kustomization"


@pytest.mark.parametrize(
    ("value", "counts"), [('"true"', False), ('""', False), ("true", False), ('"false"', True)]
)
def test_local_configuration_is_left_out_as_kustomize_does(value: str, *, counts: bool) -> None:
    annotation = f"  annotations: {{config.kubernetes.io/local-config: {value}}}\n"
    assert len(read(manifest("a") + annotation).documents) == counts
