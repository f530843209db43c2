"""Data and limits for tests of Jinja2 manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.jinja.manifests import JinjaManifest
from kalypso_actions.rendering.manifests import ManifestError
from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget, Limits

SMALL = replace(DEFAULT_LIMITS, output_bytes=100_000, iterations=10_000, work=4_000_000)
"""Limits that tests reach quickly."""


def template_data(
    config: Mapping[str, object] | None = None, limits: Limits = DEFAULT_LIMITS
) -> TemplateData:
    return TemplateData(
        target="hello-world",
        namespace="dev-large-hello-world",
        environment="dev",
        workspace="team",
        workload="hello",
        labels={"tier": "front", "edge": "true"},
        manifests={"repo": "https://git.test/hello", "branch": "main", "path": "./dev"},
        cluster_type="large",
        config={"replicas": "3"} if config is None else config,
        budget=Budget(limits),
    )


def rendered(
    text: str, config: Mapping[str, object] | None = None, limits: Limits = DEFAULT_LIMITS
) -> str:
    return JinjaManifest(text, limits).render(template_data(config, limits))


def attempt(
    text: str, config: Mapping[str, object] | None = None, limits: Limits = DEFAULT_LIMITS
) -> str | ManifestError:
    """Render; return the output or the error."""
    try:
        return rendered(text, config, limits)
    except ManifestError as error:
        return error


def failure(
    text: str, config: Mapping[str, object] | None = None, limits: Limits = DEFAULT_LIMITS
) -> ManifestError:
    """Return the error of a template that must not render."""
    error = attempt(text, config, limits)
    assert isinstance(error, ManifestError), error
    return error
