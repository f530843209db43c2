"""Kubernetes' own schemas, from the package kubernetes-validate, without the network.

https://github.com/willthames/kubernetes-validate contains the schemas of each Kubernetes release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from kalypso_actions.errors import UsageError
from kalypso_actions.model.application import SchemaFault

PACKAGE: Final = "kubernetes-validate"


class KubernetesSchemas:
    """The schemas of one version of Kubernetes; unknown fields are faults."""

    def __init__(self, version: str) -> None:
        """Raises UsageError if the package is missing, or does not have the version."""
        try:
            from kubernetes_validate import utils  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError(
                f"validate-manifests needs the package {PACKAGE}",
                advice='install it: pip install "kalypso-actions[validation]"',
            ) from error
        wanted = version.removeprefix("v")
        known = [item for item in utils.all_versions() if _minor(item) == _minor(wanted)]
        if not known:
            versions = sorted({_minor(item) for item in utils.all_versions()})
            first, last = (f"1.{number[1]}" for number in (versions[0], versions[-1]))
            raise UsageError(
                f"{PACKAGE} has no schemas of Kubernetes {version}",
                advice=f"it has {first} to {last}; a newer package may have more",
            )
        self._utils: Any = utils
        self._folder = f"kubernetes-json-schema/v{known[-1]}-local-strict"
        self._version = wanted
        self._validator = lru_cache(maxsize=None)(self._build)

    def errors(self, body: Mapping[str, Any]) -> Iterator[SchemaFault]:
        """Yield each fault. Raises KeyError for a kind without a schema."""
        validator = self._validator(str(body["kind"]), str(body["apiVersion"]))
        if validator is None:
            raise KeyError(body["kind"])
        for error in sorted(
            validator.iter_errors(body), key=lambda item: list(map(str, item.path))
        ):
            yield SchemaFault(tuple(error.path), error.message)

    def _build(self, kind: str, api_version: str) -> Any:
        """Return a validator; None for a kind that the schemas do not have."""
        import jsonschema  # noqa: PLC0415 - of the extra
        import referencing  # noqa: PLC0415

        group, _, version = api_version.rpartition("/")
        name = f"{group.partition('.')[0]}-{version}" if group else version
        try:
            schema = self._contents(f"{kind.lower()}-{name}.json")
        except FileNotFoundError:
            return None
        resources = (schema, self._definitions())
        registry: Any = referencing.Registry()
        for resource in resources:
            registry = referencing.Resource.from_contents(resource) @ registry
        return jsonschema.validators.Draft202012Validator(schema, registry=registry)

    def _definitions(self) -> Any:
        return self._contents("_definitions.json")

    def _contents(self, name: str) -> Any:
        return self._utils.schema_contents(f"{self._folder}/{name}", self._version)


def _minor(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)
