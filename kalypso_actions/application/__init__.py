"""The manifests of an application, of its chart and its configs.

variables       replace the ten variables in a text
levels          a configs tree → targets, and the levels of their values
chart           the files of a chart: links, variables
values          the values of a target, as helm gets them
helm            what helm is asked, and what its errors mean
rendered_lines  a line of output → the line of its template
descriptor      DeploymentDescriptors, checked against workload.yaml
record          tracking files, and the record of a run
changes         files × the existing tree → added, modified, deleted, kept
"""

from kalypso_actions.application.changes import (
    compute_changes,
    edit_warnings,
    folders_with_manifests,
)
from kalypso_actions.application.chart import faulty_links, files_of_folder, with_variables
from kalypso_actions.application.descriptor import (
    DescriptorNames,
    check_targets,
    computed,
    from_template,
    target_of,
)
from kalypso_actions.application.helm import (
    ChartPlace,
    HelmOptions,
    helm_arguments,
    helm_problem,
    name_problem,
    release_name,
)
from kalypso_actions.application.levels import find_targets, new_groups
from kalypso_actions.application.record import (
    Record,
    RecordedRevision,
    recorded_files,
    recorded_paths,
    tracked_variables,
    tracking_files,
)
from kalypso_actions.application.values import check_values, values_files

__all__ = [
    "ChartPlace",
    "DescriptorNames",
    "HelmOptions",
    "Record",
    "RecordedRevision",
    "check_targets",
    "check_values",
    "compute_changes",
    "computed",
    "edit_warnings",
    "faulty_links",
    "files_of_folder",
    "find_targets",
    "folders_with_manifests",
    "from_template",
    "helm_arguments",
    "helm_problem",
    "name_problem",
    "new_groups",
    "recorded_files",
    "recorded_paths",
    "release_name",
    "target_of",
    "tracked_variables",
    "tracking_files",
    "values_files",
    "with_variables",
]
