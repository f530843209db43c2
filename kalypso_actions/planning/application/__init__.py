"""The manifests of an application, made from its chart and its configs.

targets, problems = find_targets(configs)  # a target and the levels of its values
helm_arguments(options, place)             # what helm gets; `helm_problems` explains its errors
tree_files(...)                            # the checked manifests as files of the tree
"""

from kalypso_actions.planning.application.chart import (
    Dependency,
    check_dependencies,
    check_templates,
    digests,
    faulty_links,
    files_of_folder,
    missing_problem,
    unlocked_content,
    unlocked_problem,
    with_variables,
)
from kalypso_actions.planning.application.descriptor import (
    DescriptorNames,
    check_targets,
    workloads_of,
)
from kalypso_actions.planning.application.helm import (
    CHART_FILE,
    ChartPlace,
    HelmOptions,
    helm_arguments,
    helm_problems,
    name_problem,
    of_targets,
    place_of_error,
    release_name,
)
from kalypso_actions.planning.application.levels import find_targets, new_groups
from kalypso_actions.planning.application.manifests import (
    ManifestRules,
)
from kalypso_actions.planning.application.record import (
    Record,
    RecordedRevision,
    compute_changes,
    edit_warnings,
    recorded_files,
    recorded_paths,
    removal,
    tracked_variables,
    tracking_names,
)
from kalypso_actions.planning.application.tree import (
    KUSTOMIZATION_NAMES,
    TreeOptions,
    check_targets_manifests,
    manifests_of,
    missing_descriptors,
    missing_overlay,
    no_target,
    other_branch,
    overlay_of,
    remote_bases,
    tree_files,
)
from kalypso_actions.planning.application.values import (
    ReadValues,
    check_schemas,
    check_values,
    values_files,
)
from kalypso_actions.planning.application.variables import OPTIONS, replace_variables

__all__ = [
    "CHART_FILE",
    "KUSTOMIZATION_NAMES",
    "OPTIONS",
    "ChartPlace",
    "Dependency",
    "DescriptorNames",
    "HelmOptions",
    "ManifestRules",
    "ReadValues",
    "Record",
    "RecordedRevision",
    "TreeOptions",
    "check_dependencies",
    "check_schemas",
    "check_targets",
    "check_targets_manifests",
    "check_templates",
    "check_values",
    "compute_changes",
    "digests",
    "edit_warnings",
    "faulty_links",
    "files_of_folder",
    "find_targets",
    "helm_arguments",
    "helm_problems",
    "manifests_of",
    "missing_descriptors",
    "missing_overlay",
    "missing_problem",
    "name_problem",
    "new_groups",
    "no_target",
    "of_targets",
    "other_branch",
    "overlay_of",
    "place_of_error",
    "recorded_files",
    "recorded_paths",
    "release_name",
    "remote_bases",
    "removal",
    "replace_variables",
    "tracked_variables",
    "tracking_names",
    "tree_files",
    "unlocked_content",
    "unlocked_problem",
    "values_files",
    "with_variables",
    "workloads_of",
]
