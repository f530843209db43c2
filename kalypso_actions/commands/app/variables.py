"""The values of the variables of charts and configs."""

from __future__ import annotations

from kalypso_actions.application import tracked_variables, tracking_names
from kalypso_actions.commands.app.places import OpenPlace
from kalypso_actions.inputs.app import AppInputs

REGISTRY = "ghcr.io"


def variables_of(
    inputs: AppInputs, source: OpenPlace, configs: OpenPlace, tree: OpenPlace | None
) -> dict[str, str]:
    """Return the variables that have a value: given, else derived from the repositories.

    For a change of configs, the GitOps tree gives the version and the image. It also gives the
    commits of folders that are not clones.
    """
    tracked = _tracked(inputs, tree)
    repository = inputs.source_repository or source.name
    name = repository.rpartition("/")[2]
    image = ""
    if repository and inputs.compatibility != "2023":
        image = f"{REGISTRY}/{repository}/{name}".lower()  # registries refuse capitals
    values = {
        "WORKLOAD": inputs.workload or name,
        "ENVIRONMENT": inputs.environment,
        "SOURCE_REPO": repository,
        "GITOPS_REPO": inputs.gitops_repository or (tree.name if tree else ""),
        "SOURCE_BRANCH": inputs.source_branch or source.default_branch or "main",
        "VERSION": inputs.version or tracked.get("VERSION", ""),
        "IMAGE_TAG": inputs.image_tag or tracked.get("IMAGE_TAG", ""),
        "IMAGE_NAME": inputs.image_name or tracked.get("IMAGE_NAME", "") or image,
        "SRC_COMMIT": inputs.source_commit or source.commit or tracked.get("SRC_COMMIT", ""),
        "CONFIG_REVISION": inputs.config_revision
        or configs.commit
        or tracked.get("CONFIG_REVISION", ""),
    }
    return {name: value for name, value in values.items() if value}


def _tracked(inputs: AppInputs, tree: OpenPlace | None) -> dict[str, str]:
    if tree is None:
        return {}
    paths = [path for path in tracking_names(inputs.compatibility) if path in tree.files.entries()]
    return tracked_variables(tree.files.read(paths), tree.repository, inputs.compatibility)
