"""Make the schemas of manifests from public ones: `python -m tools.manifest_schemas`.

The names and types of fields come from the custom resource definitions of Flux, Argo CD and Rancher
Fleet in their newest releases (an older one has versions that clusters may still serve), and from
Kubernetes' own schemas in the package kubernetes-validate. These have no enumerations: the texts of
fields whose Go type is marked `+enum` come from the sources of Kubernetes' API. Descriptions and
rules are left out; `manifest_values.yaml` has what no schema says. `--repository OWNER/NAME=PATH`
reads a local repository instead of GitHub.

A schema in the file is a name of `shared`, or one of

    "any", "text", "integer", "number", "boolean", "integer or text", "quantity"
    ["enum", text, ...]         one of these texts
    ["pattern", expression]     a text that has a match of this regular expression
    ["list", schema]
    ["map", schema]             a mapping with any keys
    {field: schema, ...}        a mapping with these fields alone; "!field" is required
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from kubernetes_validate import utils

FILE: Final = Path(__file__).parents[1] / "kalypso_actions/planning/manifest_schemas.json"

FLUX: Final = "config/crd/bases/{group}.toolkit.fluxcd.io_{kind}.yaml"
SOURCES: Final = ("gitrepositories", "ocirepositories", "buckets", "helmrepositories", "helmcharts")
REPOSITORIES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "fluxcd/kustomize-controller": (
        (FLUX.format(group="kustomize", kind="kustomizations"),),
        ("v1.5.0",),
    ),
    "fluxcd/source-controller": (
        tuple(FLUX.format(group="source", kind=kind) for kind in SOURCES),
        ("v1.3.0",),
    ),
    "fluxcd/helm-controller": ((FLUX.format(group="helm", kind="helmreleases"),), ("v1.0.0",)),
    "argoproj/argo-cd": (
        tuple(
            f"manifests/crds/{kind}-crd.yaml"
            for kind in ("application", "applicationset", "appproject")
        ),
        (),
    ),
    "rancher/fleet": (("charts/fleet-crd/templates/crds.yaml",), ()),
}
"""The files of each repository, and older releases with versions that the newest lacks."""

API: Final = "kubernetes/api"
"""The Go types of Kubernetes' API."""

RELEASE: Final = re.compile(r"v\d+\.\d+\.\d+")
SHARED_FROM: Final = 120
"""The least length of a schema that is written once for all of its places."""
ANY: Final = ("preserve-unknown-fields", "embedded-resource")
"""Marks of schemas that accept any field."""
QUANTITY: Final = "resource.Quantity"
OF_QUANTITIES: Final = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
"""The start of the pattern that controller-gen writes for quantities."""
TYPES: Final = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repository", action="append", default=[], metavar="OWNER/NAME=PATH")
    given = dict(text.split("=", 1) for text in parser.parse_args().repository)
    kinds: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, (paths, older) in REPOSITORIES.items():
        with tempfile.TemporaryDirectory() as folder:
            place = given.get(name, f"https://github.com/{name}")
            releases = _releases(place)
            for release in (*older, releases[-1]):
                for path in paths:
                    kinds |= _of_crds(_file(place, release, path, Path(folder)))
        origins[name] = releases[-1]
    version = utils.all_versions()[-1]
    kinds |= _of_kubernetes(version, given.get(API, f"https://github.com/{API}"))
    origins["kubernetes"] = f"v{version}"
    for schema in kinds.values():
        schema["apiVersion"] = schema["kind"] = "text"
        schema.setdefault("metadata", "any")
    shared = _shared(kinds)
    content = {"origins": origins, "shared": shared, "kinds": dict(sorted(kinds.items()))}
    FILE.write_text(_written(content), encoding="utf-8")
    print(f"{FILE}: {len(kinds)} kinds, {FILE.stat().st_size >> 10} KiB, {origins}")


def _releases(place: str) -> list[str]:
    """Return the releases of a repository, without candidates, in order."""
    lines = _git("ls-remote", "--tags", "--refs", place).decode().splitlines()
    names = [line.rpartition("/")[2] for line in lines]
    return sorted(
        filter(RELEASE.fullmatch, names), key=lambda name: [*map(int, name[1:].split("."))]
    )


def _file(place: str, release: str, path: str, folder: Path) -> bytes:
    if Path(place).exists():
        return _git(f"--git-dir={place}", "show", f"{release}:{path}")
    clone = folder / release
    if not clone.exists():
        options = ("--quiet", "--bare", "--depth=1", "--filter=blob:none", f"--branch={release}")
        _git("clone", *options, place, str(clone))
    return _git(f"--git-dir={clone}", "show", f"HEAD:{path}")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, check=True).stdout


def _of_crds(content: bytes) -> Iterator[tuple[str, Any]]:
    for document in yaml.load_all(content, yaml.CSafeLoader):
        if document and document["kind"] == "CustomResourceDefinition":
            spec = document["spec"]
            for version in spec["versions"]:
                schema = _compact(version["schema"]["openAPIV3Schema"], {})
                kind = f"{spec['group']}/{version['name']} {spec['names']['kind']}"
                yield kind, {**schema, "status": "any", "metadata": "any"}


def _of_kubernetes(version: str, api: str) -> dict[str, Any]:
    folder = f"kubernetes-json-schema/v{version}-local-strict"
    definitions = utils.schema_contents(f"{folder}/_definitions.json", version)["$defs"]
    for name, schema in definitions.items():
        package, _, struct = name.removeprefix("io.k8s.api.").rpartition(".")
        fields = _enumerations(api, version).get(package.replace(".", "/"), {}).get(struct, {})
        for field, texts in fields.items():
            inner = schema["properties"].get(field, {})
            inner.get("items", inner)["enum"] = texts
    kinds = {}
    for schema in definitions.values():
        for kind in schema.get("x-kubernetes-group-version-kind", ()):
            group, name = kind["group"], kind["kind"]
            is_special = name.endswith(("List", "Options", "Review")) or name == "WatchEvent"
            if not is_special and "properties" in schema:
                api_version = f"{group}/{kind['version']}" if group else kind["version"]
                compact = _compact(schema, definitions)
                kinds[f"{api_version} {name}"] = {**compact, "status": "any", "metadata": "any"}
    return kinds


_GO_ENUM: Final = re.compile(r"\+enum\n(?://.*\n)*type (\w+) string")
_GO_CONSTANT: Final = re.compile(r'^\t\w+ +(?:(\w+) += +|= +(\w+)\()"([^"]*)"', re.MULTILINE)
_GO_STRUCT: Final = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_GO_FIELD: Final = re.compile(r'^\t\w+ +([\[\]*]*)(?:(\w+)\.)?(\w+) +`json:"(\w+)', re.MULTILINE)

_Enumerations = Mapping[str, Mapping[str, Mapping[str, list[str]]]]


@cache
def _enumerations(api: str, version: str) -> _Enumerations:
    """Return the texts of enumerations by package, struct and field of Kubernetes' API."""
    minor = version.split(".")[1]
    with tempfile.TemporaryDirectory() as folder:
        if Path(api).exists():
            git = ("--git-dir", api)
            commit = f"v0.{minor}.0" if _git(*git, "tag", "-l", f"v0.{minor}.0") else "HEAD"
        else:
            options = ("--quiet", "--bare", "--depth=1", f"--branch=v0.{minor}.0")
            _git("clone", *options, api, folder)
            git, commit = ("--git-dir", folder), "HEAD"
        names = _git(*git, "ls-tree", "-r", "--name-only", commit).decode().splitlines()
        files = {
            name.removesuffix("/types.go"): _git(*git, "show", f"{commit}:{name}").decode()
            for name in names
            if re.fullmatch(r"\w+/v\w+/types\.go", name)
        }
    texts: dict[tuple[str, str], list[str]] = {}
    for package, source in files.items():
        enumerated = set(_GO_ENUM.findall(source))
        for before, cast, text in _GO_CONSTANT.findall(source):
            if (before or cast) in enumerated:
                texts.setdefault((package, before or cast), []).append(text)
    return {
        package: {
            struct: {
                field: texts[of, name]
                for _, prefix, name, field in _GO_FIELD.findall(body)
                for of in ("core/v1" if prefix in {"v1", "corev1"} else package,)
                if (of, name) in texts
            }
            for struct, body in _GO_STRUCT.findall(source)
        }
        for package, source in files.items()
    }


def _compact(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Any:
    """Return the fields and types of a schema; `above` are the definitions that it is part of."""
    reference = schema.get("$ref", "").rpartition("/")[2]
    if reference.endswith(QUANTITY) or str(schema.get("pattern", "")).startswith(OF_QUANTITIES):
        return "quantity"
    if reference in above:  # a schema in a schema: JSONSchemaProps
        return "any"
    if reference:
        return _compact(definitions[reference], definitions, (*above, reference))
    kinds = schema.get("type", "")
    kind = kinds if isinstance(kinds, str) else next(item for item in kinds if item != "null")
    compact: Any = TYPES.get(kind, "any")
    if any(schema.get(f"x-kubernetes-{name}") for name in ANY):
        compact = "any"
    elif _may_be_number_or_text(schema, kind):
        compact = "integer or text"
    elif kind == "array":
        compact = ["list", _compact(schema.get("items", {}), definitions, above)]
    elif schema.get("properties"):
        required = schema.get("required", ())
        compact = {
            f"!{name}" if name in required else name: _compact(inner, definitions, above)
            for name, inner in sorted(schema["properties"].items())
        }
    elif isinstance(schema.get("additionalProperties"), Mapping):
        compact = ["map", _compact(schema["additionalProperties"], definitions, above)]
    else:
        compact = _of_texts(schema, kind) or compact
    return compact


def _of_texts(schema: Mapping[str, Any], kind: str) -> list[str]:
    """Return what a schema says of a text; nothing if any will do."""
    texts = [text for text in schema.get("enum", ()) if isinstance(text, str)]
    if texts:
        return ["enum", *texts]
    return ["pattern", schema["pattern"]] if kind == "string" and "pattern" in schema else []


def _may_be_number_or_text(schema: Mapping[str, Any], kind: str) -> bool:
    return bool(
        schema.get("x-kubernetes-int-or-string")
        or schema.get("format") == "int-or-string"
        or (schema.get("oneOf") and not kind)
    )


class _Sharing:
    """Gives names to schemas that occur at several places."""

    def __init__(self) -> None:
        self.shared: dict[str, Any] = {}
        self._counts: Counter[str] = Counter()
        self._names: dict[str, str] = {}

    def count(self, schema: object) -> None:
        """Count a schema and those inside it."""
        if not isinstance(schema, dict | list):
            return
        text = json.dumps(schema, sort_keys=True)
        self._counts[text] += len(text) >= SHARED_FROM
        if self._counts[text] < 2:
            for inner in schema.values() if isinstance(schema, dict) else schema[1:]:
                self.count(inner)

    def replaced(self, schema: Any) -> Any:
        """Return a schema with names in place of those that occur several times."""
        if not isinstance(schema, dict | list):
            return schema
        text = json.dumps(schema, sort_keys=True)
        if text in self._names:
            return self._names[text]
        if isinstance(schema, dict):
            result: Any = {name: self.replaced(inner) for name, inner in schema.items()}
        else:
            result = [schema[0], *map(self.replaced, schema[1:])]
        if self._counts[text] < 2:
            return result
        name = self._names[text] = f"#{len(self.shared)}"
        self.shared[name] = result
        return name


def _shared(kinds: dict[str, Any]) -> dict[str, Any]:
    """Replace schemas that occur at several places by names, and return them by name."""
    sharing = _Sharing()
    for schema in kinds.values():
        for inner in schema.values():
            sharing.count(inner)
    for name, schema in sorted(kinds.items()):
        kinds[name] = {field: sharing.replaced(inner) for field, inner in schema.items()}
    return sharing.shared


def _written(content: Mapping[str, Mapping[str, Any]]) -> str:
    """Return JSON with a line for each kind, so that changes are seen."""
    parts = []
    for name, rows in content.items():
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items()]
        parts.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
