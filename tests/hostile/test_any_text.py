"""Any text of an application is refused, or changes no document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.fleet.workloads import read_workloads
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.documents import TextPlace
from kalypso_actions.model.kinds import Assignment, ClusterType, Template, Workload
from kalypso_actions.rendering import Failure, Options, Renderer
from kalypso_actions.sources.yaml_documents import LOADER, parse_yaml
from tests.builders import cluster_type, registration
from tests.hostile.fleet_under_attack import CONFIG, FLUX

HERE: Final = Location("test", "templates.yaml", 1)

TEMPLATES: Final = (
    FLUX,
    'kind: A\nmetadata: {name: {{ .Manifests.branch | quote }}}\na: "{{ .Manifests.description }}"\n',
    "kind: A\nmetadata:\n  name: fixed\n  namespace: team\n  labels: {a: '{{ .Manifests.path }}'}\n",
    "{{ range $k, $v := .Manifests }}---\nkind: A\nmetadata: {name: fixed}\n{{ $k }}: {{ $v }}\n{{ end }}",
    "kind: A\nb: {{ .Manifests.description | b64enc }}\nc:\n  - {{ .Manifests.repo }}\n",
    "kind: A\nd: |\n  {{ .Manifests.description }}\nmetadata: {namespace: {{ .Namespace }}}\n",
)

PIECES: Final = st.sampled_from(
    [
        *"{}[]:,#&*!|>'\"%@`-?\\ \t\n\r\x00\x85\u2028\ufeffäx1~^=<$()",
        "{{",
        "}}",
        "---",
        "...",
        ": ",
        " #",
        "kind: Secret",
        "namespace: kube-system",
        ", metadata: {name: other}",
        '", "kind": "Secret',
        "{{ fail }}",
        "<<: *a",
        "&a",
        "!!binary",
        "true",
        "main",
    ]
)
TEXTS: Final = st.lists(PIECES, max_size=8).map("".join)


def deliver(manifests: dict[str, str]) -> Workload | None:
    """Return the Workload with these texts; None if it makes its registration invalid."""
    body = {
        "apiVersion": "scheduler.kalypso.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "app"},
        "spec": {
            "deploymentTargets": [{"name": "web", "environment": "dev", "manifests": manifests}]
        },
    }
    parsed = parse_yaml("test", "workload.yaml", yaml.safe_dump(body, allow_unicode=False).encode())
    workloads, findings = read_workloads(
        registration("app", "https://git.test/app"), "dev", parsed.documents
    )
    return None if parsed.problems or findings.problems else workloads[0]


def render(workload: Workload, text: str) -> dict[str, bytes] | Failure:
    templates = [
        Template(name, kind, "", (body,), {}, HERE, (TextPlace(1),))
        for name, kind, body in (
            ("reconciler", "reconciler", text),
            ("namespace", "namespace", "kind: Namespace\n"),
            ("config", "config", CONFIG),
        )
    ]
    edge: ClusterType = cluster_type("edge")
    assignment = Assignment(workload.targets[0], edge, ("all",))
    config = MergedConfig({"REGION": "west"}, {"REGION": "west"}, ())
    return Renderer("dev", templates, Options()).render(assignment, config)


def identities(content: bytes) -> list[object] | None:
    """Return the kinds and namespaces of the documents; None if the text is not YAML.

    Go's parsers, which clusters use, are ports of libyaml.
    """
    try:
        nodes = [*yaml.compose_all(content.decode(), Loader=LOADER)]
    except (yaml.YAMLError, ValueError):
        return None
    return [[*identity(node)] for node in nodes]


def identity(node: yaml.Node | None) -> Iterator[object]:
    if not isinstance(node, yaml.MappingNode):
        yield type(node)
        return
    for key, value in node.value:
        if key.value == "kind":
            yield value.value
        if key.value == "metadata":
            entries = value.value if isinstance(value, yaml.MappingNode) else []
            yield [inner.value for name, inner in entries if name.value == "namespace"]


def neutral(manifests: dict[str, str]) -> dict[str, str]:
    plain = r"[^A-Za-z0-9._/:@+-]"
    return {re.sub(plain, "x", key): re.sub(plain, "x", text) for key, text in manifests.items()}


def check(manifests: dict[str, str], template: str) -> None:
    """Check that the texts make their registration invalid or fail, or change no document."""
    workload, ordinary = deliver(manifests), deliver(neutral(manifests))
    if workload is None or ordinary is None:  # e.g. a version range that lost its operator
        return
    files, expected = render(workload, template), render(ordinary, template)
    if isinstance(files, Failure):
        return
    assert not isinstance(expected, Failure)
    for name, content in files.items():
        assert identities(content) == identities(expected[name])


@given(
    st.fixed_dictionaries(
        dict.fromkeys(("repo", "branch", "path", "description"), TEXTS),
        optional={"a key": TEXTS, "{": TEXTS},
    ),
    st.sampled_from(TEMPLATES),
)
def test_any_text_is_refused_or_harmless(manifests: dict[str, str], template: str) -> None:
    check(manifests, template)


@given(TEXTS, st.sampled_from(TEMPLATES))
def test_any_description_is_refused_or_harmless(text: str, template: str) -> None:
    check({"repo": "r", "branch": "main", "path": "p", "description": text}, template)


@given(st.text(max_size=40), st.sampled_from(TEMPLATES))
def test_any_letters_are_refused_or_harmless(text: str, template: str) -> None:
    check({"repo": "r", "branch": "main", "path": "p", "description": text}, template)
