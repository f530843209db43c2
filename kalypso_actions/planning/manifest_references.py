"""Find references of rendered objects that no rendered object meets, where one was meant.

    references = [*references_of(document)]
    for reference, advice in unmet(objects, references):
        ...

Clusters have objects that Kalypso does not render: `flux-system` with its source, Argo CD, Secrets,
the objects of applications. So a reference without an object is only told if something shows what
it was meant to be: an object of a name that differs by a typing error, the same name in another
namespace or on another cluster type, or a source or Role that nothing uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kalypso_actions.model.documents import Document
from kalypso_actions.model.nearest import misspelled
from kalypso_actions.planning.manifest_values import values_at
from kalypso_actions.planning.renaming import NEW_WORD

UNMET: Final = "manifest-reference-unmet"

NAMESPACE: Final = "Namespace"

SOURCES: Final = frozenset(
    {"GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart", "ExternalArtifact"}
)
"""The kinds that nobody renders but for a reference."""

USED_ALONE: Final = SOURCES | {"Role"}

KNOWN_NAMESPACES: Final = ("argocd", "cert-manager", "flux-system", "kube-system", "monitoring")
"""Namespaces that most clusters have and Templates rarely render."""

_REFERENCES: Final[Mapping[str, Sequence[tuple[tuple[str, ...], str]]]] = {
    "Kustomization": (
        (("spec", "sourceRef"), ""),
        (("spec", "postBuild", "substituteFrom", "*"), ""),
        (("spec", "dependsOn", "*"), "Kustomization"),
    ),
    "HelmRelease": (
        (("spec", "chart", "spec", "sourceRef"), ""),
        (("spec", "chartRef"), ""),
        (("spec", "valuesFrom", "*"), ""),
        (("spec", "dependsOn", "*"), "HelmRelease"),
    ),
    "HelmChart": ((("spec", "sourceRef"), ""),),
    "RoleBinding": ((("roleRef",), ""), (("subjects", "*"), "")),
    "ClusterRoleBinding": ((("subjects", "*"), ""),),
    "HorizontalPodAutoscaler": ((("spec", "scaleTargetRef"), ""),),
    "Ingress": ((("**", "backend", "service"), "Service"),),
}
"""The references of each kind of objects, and the kind that they have, "" if they name it."""

_POD_REFERENCES: Final[Sequence[tuple[tuple[str, ...], str]]] = (
    (("**", "volumes", "*", "configMap"), "ConfigMap"),
    (("**", "envFrom", "*", "configMapRef"), "ConfigMap"),
    (("**", "envFrom", "*", "secretRef"), "Secret"),
    (("**", "env", "*", "valueFrom", "configMapKeyRef"), "ConfigMap"),
    (("**", "env", "*", "valueFrom", "secretKeyRef"), "Secret"),
)
_PODS: Final = frozenset(
    {"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"}
)

FLUX_KINDS: Final = frozenset({"Kustomization", "HelmRelease"})
"""What Flux applies, and what can depend on one another."""

_MET_KINDS: Final = (
    SOURCES
    | FLUX_KINDS
    | {
        *("Role", "ServiceAccount", "ConfigMap", "Secret", "Service"),
        *("Deployment", "StatefulSet"),
    }
)

ELSEWHERE: Final = "an object of another cluster type"
"""What a dependency was meant to be: bootstraps have others, and names differ by one letter."""

_FROM: Final = frozenset({"substituteFrom", "valuesFrom"})
"""References that cannot name a namespace."""

Identity = tuple[str, str, str]
"""The kind, namespace and name of an object."""


class Reference(NamedTuple):
    """A reference of an object, with its place in the object and its line."""

    wanted: Identity
    subject: str
    path: str
    line: int

    @property
    def is_of_own_namespace(self) -> bool:
        """Whether Flux reads the ConfigMap or Secret in the namespace of the object itself."""
        return not _FROM.isdisjoint(self.path.split("."))


def references_of(document: Document) -> Iterator[Reference]:
    """Yield the references of an object, and its namespace."""
    body: Mapping[str, Any] = document.body
    metadata = body.get("metadata")
    own = str(metadata.get("namespace") or "") if isinstance(metadata, Mapping) else ""
    subject = str(document)

    def reference(kind: str, namespace: str, name: object, *path: str | int) -> Iterator[Reference]:
        if isinstance(name, str) and name and "$" not in name and "$" not in namespace:
            line, shown = document.at(*path).line, ".".join(map(str, path))
            yield Reference((kind, namespace or "default", name), subject, shown, line)

    if own:
        yield from reference(NAMESPACE, "", own, "metadata", "namespace")
    of_kind = _REFERENCES.get(document.kind, ())
    for steps, kind in (*of_kind, *(_POD_REFERENCES if document.kind in _PODS else ())):
        for path, value in values_at(body, steps):
            if not isinstance(value, Mapping) or value.get("optional"):
                continue
            wanted = kind or str(value.get("kind") or "")
            if wanted in _MET_KINDS:
                namespace = str(value.get("namespace") or own)
                yield from reference(wanted, namespace, value.get("name"), *path, "name")
    yield from _target_namespace(body, document, reference)


def _target_namespace(body: Mapping[str, Any], document: Document, reference: Any) -> Iterator[Any]:
    """Yield the namespace into which Flux or Argo CD applies, unless they make it."""
    spec = body.get("spec")
    if not isinstance(spec, Mapping):
        return
    match document.kind, spec:
        case ("HelmRelease", {"install": {"createNamespace": True}}):
            return
        case ("Kustomization" | "HelmRelease", {"targetNamespace": name}):
            yield from reference(NAMESPACE, "", name, "spec", "targetNamespace")
        case ("Application", {"syncPolicy": {"syncOptions": list(options)}}) if (
            "CreateNamespace=true" in options
        ):
            return
        case (
            "Application",
            {"destination": {"server": "https://kubernetes.default.svc", "namespace": name}},
        ):
            yield from reference(NAMESPACE, "", name, "spec", "destination", "namespace")


def unmet(
    objects: Iterable[Identity], references: Iterable[Reference]
) -> Iterator[tuple[Reference, str]]:
    """Yield each reference that no object meets, with what was probably meant.

    A namespace that is not like another one is yielded with ""; whether it is meant to be one that
    is rendered depends on the Template. A dependency is yielded with `ELSEWHERE`. New words of
    renamed texts are never like one another.
    """
    rendered: dict[tuple[str, str], set[str]] = {}
    for kind, namespace, name in objects:
        rendered.setdefault((kind, namespace), set()).add(name)
    references = list(references)
    wanted = {reference.wanted for reference in references}
    for reference in references:
        kind, namespace, name = reference.wanted
        names = rendered.get((kind, namespace), set())
        if name in names or any("$" in each for each in names):
            continue
        if kind == NAMESPACE:
            others = [each for each in KNOWN_NAMESPACES if _letters(each) != _letters(name)]
            meant = _like(name, (*names, *others))
            if meant or (names and name not in {*KNOWN_NAMESPACES, "default"}):
                yield reference, meant
            continue
        if kind in FLUX_KINDS:
            yield reference, ELSEWHERE
            continue
        elsewhere = [
            of for (other, of), known in rendered.items() if other == kind and name in known
        ]
        unused = [each for each in names if (kind, namespace, each) not in wanted]
        meant = _like(name, names)
        kinds = [other for other in SOURCES if name in rendered.get((other, namespace), ())]
        has_place = kind in SOURCES or reference.is_of_own_namespace
        if not meant and has_place and (elsewhere or kinds):
            meant = f"{name} in {elsewhere[0]}" if elsewhere else f"{kinds[0]} {name}"
        is_known = kind in SOURCES and name in KNOWN_NAMESPACES  # the source of a bootstrap
        if not meant and len(unused) == 1 and kind in USED_ALONE and not is_known:
            meant = unused[0]
        if meant:
            yield reference, meant


def _letters(name: str) -> str:
    """Return a name without hyphens: Argo CD may well be in `argo-cd`."""
    return name.replace("-", "")


def _like(name: str, names: Iterable[str]) -> str:
    """Return the name that differs by a typing error, apart from new words."""
    if NEW_WORD.search(name):
        return ""
    return misspelled(name, [each for each in names if not NEW_WORD.search(each)])
