"""The manifests of an application, made from its chart and its configs.

variables       replace the ten variables in a text
levels          a configs tree → targets, and the levels of their values
chart           the files of a chart: links, variables
chart_checks    functions of helm that do not work here
dependencies    the dependencies of a chart, and Chart.lock
values_schemas  values.schema.json, before helm reads it
values          the values of a target, as helm gets them
unread_values   values of the configs that no template reads
helm            the arguments of helm, and the place of a chart
helm_errors     the meanings and places of helm's errors
manifests       check the generated manifests
overlays        the folder of a target among kustomizations or plain manifests
rendered_lines  a line of output → the line of its template
descriptor      DeploymentDescriptors, checked against workload.yaml
workloads       the Workloads of the source
tree            the files of the tree
record          tracking files, and the record of the last run
changes         files × the existing tree → added, modified, deleted, kept
"""

from kalypso_actions.planning.application.changes import (
    compute_changes,
    edit_warnings,
    removal,
)
from kalypso_actions.planning.application.chart import faulty_links, files_of_folder, with_variables
from kalypso_actions.planning.application.chart_checks import check_templates
from kalypso_actions.planning.application.dependencies import (
    Dependency,
    check_dependencies,
    digests,
    missing_problem,
    unlocked_content,
    unlocked_problem,
)
from kalypso_actions.planning.application.descriptor import (
    DescriptorNames,
    check_targets,
)
from kalypso_actions.planning.application.helm import (
    CHART_FILE,
    ChartPlace,
    HelmOptions,
    helm_arguments,
    name_problem,
    release_name,
)
from kalypso_actions.planning.application.helm_errors import (
    helm_problems,
    of_targets,
    place_of_error,
)
from kalypso_actions.planning.application.levels import find_targets, new_groups
from kalypso_actions.planning.application.manifests import (
    ManifestRules,
)
from kalypso_actions.planning.application.overlays import (
    KUSTOMIZATION_NAMES,
    manifests_of,
    missing_overlay,
    overlay_of,
    remote_bases,
)
from kalypso_actions.planning.application.record import (
    Record,
    RecordedRevision,
    recorded_files,
    recorded_paths,
    tracked_variables,
    tracking_names,
)
from kalypso_actions.planning.application.tree import (
    TreeOptions,
    check_targets_manifests,
    missing_descriptors,
    no_target,
    other_branch,
    tree_files,
)
from kalypso_actions.planning.application.unread_values import ReadValues
from kalypso_actions.planning.application.values import check_values, values_files
from kalypso_actions.planning.application.values_schemas import check_schemas
from kalypso_actions.planning.application.variables import OPTIONS, replace_variables
from kalypso_actions.planning.application.workloads import workloads_of

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
