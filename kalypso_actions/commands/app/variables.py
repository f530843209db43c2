"""The values of the variables of charts and configs."""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.errors import Location, Problem
from kalypso_actions.inputs.app import AppInputs
from kalypso_actions.planning.application import OPTIONS, tracked_variables, tracking_names

REGISTRY = "ghcr.io"


def variables_of(
    inputs: AppInputs, source: OpenPlace, configs: OpenPlace, tree: OpenPlace | None
) -> tuple[dict[str, str], list[Problem]]:
    """Return the variables that have a value: given, else derived from the repositories.

    With upstream's modes, the GitOps tree gives the version, the image, and the commits of folders
    that are not clones; warn where an option differs.
    """
    given = {name: getattr(inputs, option.replace("-", "_")) for name, option in OPTIONS.items()}
    repository = given["SOURCE_REPO"] or source.name
    name = repository.rpartition("/")[2]
    derived = {
        "WORKLOAD": name,
        "SOURCE_REPO": repository,
        "GITOPS_REPO": tree.name if tree else "",
        "SOURCE_BRANCH": source.default_branch or "main",
        "SRC_COMMIT": source.commit,
        "CONFIG_REVISION": configs.commit,
    }
    tracked, warnings = _tracked(inputs, tree, given)
    if repository and inputs.compatibility != "2023":
        tracked["IMAGE_NAME"] = f"{REGISTRY}/{repository}/{name}".lower()  # as registries demand
    values = {name: given[name] or derived.get(name) or tracked.get(name) for name in OPTIONS}
    return {name: value for name, value in values.items() if value}, warnings


def _tracked(
    inputs: AppInputs, tree: OpenPlace | None, given: Mapping[str, str]
) -> tuple[dict[str, str], list[Problem]]:
    """Return the variables of the tracking files, and warnings of options that differ."""
    if tree is None or inputs.compatibility == "none":
        return {}, []
    names = tracking_names(inputs.compatibility)
    contents = tree.files.read([path for path in names if path in tree.files.entries()])
    tracked = tracked_variables(contents, tree.repository, inputs.compatibility)
    return tracked, [
        Problem(
            f"the GitOps tree tracks the {OPTIONS[name]} {tracked[name]}, but the option gives "
            f"{given[name]}",
            Location(tree.repository, path),
            f"leave --{OPTIONS[name]} out to render what the tree tracks",
            "tracking-differs",
        )
        for path, name in names.items()
        if name in tracked and given[name] and given[name] != tracked[name]
    ]
