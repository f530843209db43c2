"""The kinds of documents that Kalypso reads, and the advice for a document of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.fleet import schemas
from kalypso_actions.fleet.promotion_policy import PromotionPolicyResource
from kalypso_actions.model.counts import counted
from kalypso_actions.model.documents import Document
from kalypso_actions.model.layout import PLACEMENTS_FOLDER
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.placements import PLACEMENT_GROUP
from kalypso_actions.model.promotion_policy import POLICY_KIND

KINDS: Final[Mapping[str, type[schemas.Resource]]] = {
    "Environment": schemas.EnvironmentResource,
    "BaseRepo": schemas.BaseRepoResource,
    "GitOpsRepo": schemas.GitOpsRepoResource,
    "ClusterType": schemas.ClusterTypeResource,
    "SchedulingPolicy": schemas.SchedulingPolicyResource,
    "ConfigMap": schemas.ConfigMapResource,
    "ConfigSchema": schemas.ConfigSchemaResource,
    "Template": schemas.TemplateResource,
    "WorkloadRegistration": schemas.WorkloadRegistrationResource,
    "Workload": schemas.WorkloadResource,
    "DeploymentTarget": schemas.DeploymentTargetResource,
    POLICY_KIND: PromotionPolicyResource,
}

CREATED_BY_OPERATOR = frozenset({"Assignment", "AssignmentPackage"})


def ignored_kind(document: Document) -> Problem:
    """Return the warning about a document that is of no kind of Kalypso."""
    message = f"{document.kind} {document.name!r} is not a kind of Kalypso; it is ignored"
    advice = _meant_kind(document.kind, document.api_version)
    return Problem(message, document.where, advice, "kind-ignored")


def _meant_kind(kind: str, api_version: str) -> str:
    """Suggest a correction of an ignored document, or else the place where it belongs."""
    if kind == "Secret":
        return "revoke its values, store them elsewhere, and remove the document: Git keeps it"
    if api_version.startswith(PLACEMENT_GROUP):
        return f"move it to {PLACEMENTS_FOLDER} of the environment's branch"
    if kind in KINDS:
        near = nearest(api_version, (KINDS[kind].API_VERSION,))
        advice = f"did you mean apiVersion: {near}?" if near else ""
    else:
        near = nearest(
            kind, (name for name, known in KINDS.items() if api_version == known.API_VERSION)
        )
        advice = f"did you mean kind: {near}?" if near else ""
    return advice or "keep it elsewhere, or list its file in .sourceignore"


def unknown_kind(document: Document) -> Problem:
    """Return the problem of a kind of Kalypso that does not exist; suggest the closest one."""
    near = nearest(document.kind, KINDS)
    advice = f"did you mean {near}?" if near else f"known kinds: {', '.join(KINDS)}"
    where = document.at("kind")
    effect = _missing_targets(document) if near == "Workload" else ""
    return Problem(f"unknown kind {document.kind!r}{effect}", where, advice, "kind-unknown")


def _missing_targets(document: Document) -> str:
    match document.body:
        case {"spec": {"deploymentTargets": list(targets)}} if targets:
            return f": the fleet lacks its {counted(len(targets), 'deployment target')}"
    return ""
