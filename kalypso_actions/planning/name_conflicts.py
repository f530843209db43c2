"""Names that several registrations, or a registration and the control plane, deliver."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kalypso_actions.errors import Location, Problem
from kalypso_actions.gitops.provenance import PreviousSources
from kalypso_actions.model import kinds
from kalypso_actions.model.tree import RegistrationReading


@dataclass(frozen=True, slots=True)
class _Delivery:
    """The source of a Workload or target; `registration` is "" for the control plane.

    `registered` is the place of the registration.
    """

    registration: str
    workload: str
    where: Location
    registered: Location | None = None

    @property
    def source(self) -> tuple[str, str]:
        """The registration and its Workload."""
        return self.registration, self.workload

    def __str__(self) -> str:
        if not self.registration:
            return f"the control plane in {self.where}"
        place = f" ({self.registered})" if self.registered else ""
        return f"registration {self.registration!r}{place} in {self.where}"


def workload_conflicts(
    workloads: Mapping[str, Iterable[kinds.Workload]],
    environment: str,
    own: Iterable[kinds.DeploymentTarget],
    previous: PreviousSources,
    places: Mapping[str, Location],
) -> dict[str, list[Problem]]:
    """Return, by registration, a problem for each Workload or target with a conflicting name.

    `workloads` are those of all usable heads, `own` the targets in the control plane, and `places`
    the locations of all registrations. A name belongs to its owner, the registration that delivered
    it to the merged tree (`previous`), even without a usable head, until the owner's head no longer
    delivers it. If two registrations deliver a name that nobody owns, both get a problem.
    """
    by_workload: dict[str, list[_Delivery]] = {}
    by_target: dict[str, list[_Delivery]] = {}
    for target in own:
        by_target[target.name] = [_Delivery("", target.workload, target.where)]
    for registration, its_workloads in sorted(workloads.items()):
        for workload in its_workloads:
            registered = places.get(registration)
            delivery = _Delivery(registration, workload.name, workload.where, registered)
            by_workload.setdefault(workload.name, []).append(delivery)
            for target in workload.targets:
                if target.environment == environment:
                    delivery = _Delivery(registration, workload.name, target.where, registered)
                    by_target.setdefault(target.name, []).append(delivery)
    conflicts: dict[str, list[Problem]] = {}
    refused: set[tuple[str, str]] = set()  # Workloads with a problem; their targets get no problem
    for kind, by_name, owner_of in (
        ("Workload", by_workload, previous.workloads),
        ("deployment target", by_target, previous.targets),
    ):
        reported: set[tuple[str, str]] = set()
        for name, delivered_by in by_name.items():
            owner = _owner(owner_of.get(name, ""), delivered_by, workloads, places)
            deliveries = [item for item in delivered_by if item.source not in refused]
            for delivery in deliveries:
                problem = _conflict(f"{kind} {name!r}", delivery, deliveries, owner)
                if problem:
                    conflicts.setdefault(delivery.registration, []).append(problem)
                    reported.add(delivery.source)
        refused |= reported
    return conflicts


def _owner(
    name: str,
    deliveries: Iterable[_Delivery],
    readable: Container[str],
    places: Mapping[str, Location],
) -> _Delivery | None:
    """Return the delivery of a name's owner; None if the owner no longer delivers the name."""
    if name not in places:
        return None
    unread = None if name in readable else _Delivery(name, "", places[name])
    return next((item for item in deliveries if item.registration == name), unread)


def _conflict(
    subject: str, delivery: _Delivery, deliveries: Iterable[_Delivery], owner: _Delivery | None
) -> Problem | None:
    """Return the problem that one delivery of a name has; None if it has none."""
    registration = delivery.registration
    others = [item for item in deliveries if item is not delivery]
    if owner:
        others = [item for item in others if not item.registration]
    if not registration or not (others or (owner and owner.registration != registration)):
        return None
    same = [item for item in others if item.registration and item.where == delivery.where]
    if same and delivery.registered:
        names = [f"registration {item.registration!r} ({item.registered})" for item in same]
        message = f"{subject} is also delivered by {'; '.join(names)}, which names the same folder"
        related = tuple(item.registered for item in same if item.registered)
        advice = "remove one of the registrations"
        return Problem(message, delivery.registered, advice, "workload-conflict", related)
    by_hand = [item for item in others if not item.registration]
    if by_hand and by_hand == others:  # the application is not the culprit
        message = f"{subject} is also delivered by the application: {delivery}"
        return Problem(
            message,
            by_hand[0].where,
            "rename this one, or the target of the application",
            "workload-conflict",
            related=(delivery.where,),
        )
    if others or owner is None:
        message = f"{subject} is also delivered by {'; '.join(map(str, others))}"
        advice = "rename one, or remove a registration"
    else:
        message = f"{subject} belongs to {owner}, which delivered it first"
        advice = "write another name; this one is free once its owner no longer delivers it"
    return Problem(message, delivery.where, advice, "workload-conflict")


def legacy_namespace_conflicts(
    readings: Iterable[RegistrationReading],
    environment: str,
    own: Iterable[kinds.DeploymentTarget],
    targets: Mapping[str, str],
) -> dict[str, list[Problem]]:
    """Return, by registration, the targets that share `<environment>-<workspace>-<target>`.

    The target `a-web` of the workspace `team` and `web` of `team-a` have the same namespace.
    `targets` are the registrations of the merged tree's targets, by target name; these targets keep
    the namespace.
    """
    by_namespace: dict[str, list[_Delivery]] = {}
    owners: dict[str, list[_Delivery]] = {}
    for delivery, workspace, target in _legacy_targets(readings, environment, own, targets):
        namespace = f"{environment}-{workspace}-{target}"
        by_namespace.setdefault(namespace, []).append(delivery)
        if targets.get(target) == delivery.registration:
            owners.setdefault(namespace, []).append(delivery)
    conflicts: dict[str, list[Problem]] = {}
    for namespace, deliveries in by_namespace.items():
        for delivery in deliveries:
            known = owners.get(namespace, [None])
            owner = delivery if delivery in known else known[0]
            problem = _conflict(f"the namespace {namespace!r}", delivery, deliveries, owner)
            if problem:
                conflicts.setdefault(delivery.registration, []).append(problem)
    return conflicts


def _legacy_targets(
    readings: Iterable[RegistrationReading],
    environment: str,
    own: Iterable[kinds.DeploymentTarget],
    targets: Mapping[str, str],
) -> Iterator[tuple[_Delivery, str, str]]:
    """Yield each target of an environment, including kept ones, with its workspace and name."""
    for target in own:
        yield _Delivery("", target.workload, target.where), target.workspace, target.name
    for reading in readings:
        registration = reading.registration
        for target in (item for workload in reading.workloads for item in workload.targets):
            if target.environment == environment:
                delivery = _Delivery(registration.name, target.workload, target.where)
                yield delivery, target.workspace, target.name
        for name, owner in targets.items() if reading.state == "kept" else ():
            if owner == registration.name:
                yield _Delivery(owner, "", registration.where), registration.workspace, name
