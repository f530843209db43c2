from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from string import hexdigits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.clients.resource_graph import rows
from kalypso_actions.clients.resource_graph.rows import (
    fleet_answer,
    flux_configurations_query,
    placed_report,
    string_literal,
)
from kalypso_actions.compliance.interface import FleetAnswer
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    Condition,
    FollowedTree,
    ObjectReference,
    ReportedObject,
    ReportedPath,
)
from kalypso_actions.model.urls import repository_key
from tests.clients.resource_graph.azure import REPOSITORY, row

KEY = repository_key(REPOSITORY)
ID = row()["id"]
CLUSTER = ID.partition("/providers/Microsoft.KubernetesConfiguration")[0]


def cluster_reports(given_rows: Sequence[object], repository: str) -> tuple[ClusterReport, ...]:
    results = [
        rows.cluster_report(each, place, repository) for place, each in enumerate(given_rows, 1)
    ]
    return rows.cluster_reports(results)


def read(given_row: object) -> ClusterReport:
    (report,) = cluster_reports([given_row], KEY)
    return report


def at_url(url: object) -> dict[str, Any]:
    return row(url=url)


def test_a_row_with_everything() -> None:
    statuses = [
        {
            "kind": "Kustomization",
            "name": "cluster-config-apps",
            "namespace": "flux-system",
            "complianceState": "Non-Compliant",
            "appliedBy": None,
            "helmReleaseProperties": None,
            "statusConditions": [
                {
                    "type": "Ready",
                    "status": "False",
                    "reason": "DependencyNotReady",
                    "message": "dependency 'cluster-config/cluster-config-infra' is not ready",
                    "lastTransitionTime": "2022-05-13T11:54:41+00:00",
                }
            ],
        },
        {
            "kind": "HelmRelease",
            "name": "web",
            "complianceState": "Compliant",
            "appliedBy": {"name": "cluster-config-apps", "namespace": "flux-system"},
        },
    ]
    given_row = row(
        complianceState="Non-Compliant",
        provisioningState="Failed",
        suspend=True,
        errorMessage="it broke",
        kustomizations={"infra": {"path": "./infra"}, "apps": {"path": "apps/large"}},
        statuses=statuses,
    )
    condition = Condition(
        "Ready",
        "False",
        "DependencyNotReady",
        "dependency 'cluster-config/cluster-config-infra' is not ready",
        datetime(2022, 5, 13, 11, 54, 41, tzinfo=UTC),
    )
    assert read(given_row) == ClusterReport(
        cluster=CLUSTER,
        configuration="cluster-config",
        paths=(ReportedPath("./infra", "infra"), ReportedPath("apps/large", "apps")),
        revision="dev@sha1:c4e327286379495f8b6edc2c9c208095b6cc53ab",
        state="Non-Compliant",
        suspended=True,
        message="it broke",
        provisioning_state="Failed",
        source_updated_at=datetime(2022, 5, 13, 11, 54, 42, tzinfo=UTC),
        reported_at=datetime(2022, 5, 13, 11, 54, 54, 830000, tzinfo=UTC),
        objects=(
            ReportedObject(
                "Kustomization",
                "cluster-config-apps",
                "Non-Compliant",
                (condition,),
                "flux-system",
            ),
            ReportedObject(
                "HelmRelease",
                "web",
                "Compliant",
                (),
                applied_by=ObjectReference("cluster-config-apps", "flux-system"),
            ),
        ),
    )


FIELDS = sorted(row().keys() - {"id", "url"})
NOTHING = ClusterReport(CLUSTER, "cluster-config", (), "", "")


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param({}, id="absent"),
        pytest.param(dict.fromkeys(FIELDS), id="null"),
        pytest.param({"lastSourceUpdatedAt": "2022-05-13T11:54:42Z"}, id="a field of a preview"),
    ],
)
def test_fields_that_are_null_or_absent(properties: dict[str, object]) -> None:
    assert read({"id": ID, "url": REPOSITORY, **properties}) == NOTHING


def test_null_entries_of_lists_are_skipped() -> None:
    """Azure's libraries declare `statuses?: (null | ObjectStatusDefinition)[]`."""
    condition = {"type": "Ready", "status": "True"}
    statuses = [None, {"kind": "Kustomization", "statusConditions": [None, condition, None]}, None]
    assert [
        [condition.status for condition in given.conditions]
        for given in read(row(statuses=statuses)).objects
    ] == [["True"]]


def test_parts_that_are_null() -> None:
    status: dict[str, Any] = {
        "kind": "HelmRelease",
        "name": None,
        "statusConditions": None,
        "appliedBy": {},
    }
    report = read(
        row(kustomizations={"apps": None, "infra": {"path": None}}, statuses=[status, {}])
    )
    assert report.paths == (ReportedPath("", "apps"), ReportedPath("", "infra"))
    assert report.objects == (
        ReportedObject("HelmRelease", "", "", ()),
        ReportedObject("", "", "", ()),
    )


@pytest.mark.parametrize("state", ["Not Compliant", "Unknown", "Paused", "compliant"])
def test_states_keep_azures_words(state: str) -> None:
    report = read(row(complianceState=state, provisioningState=state))
    assert (report.state, report.provisioning_state) == (state, state)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2022-05-13T11:54:42+00:00", datetime(2022, 5, 13, 11, 54, 42, tzinfo=UTC)),
        ("2022-05-13T11:54:42Z", datetime(2022, 5, 13, 11, 54, 42, tzinfo=UTC)),
        ("2022-05-13T11:54:42", datetime(2022, 5, 13, 11, 54, 42, tzinfo=UTC)),
        ("2022-05-13T11:54:42.07Z", datetime(2022, 5, 13, 11, 54, 42, 70000, tzinfo=UTC)),
        ("2022-05-13T11:54:42.1234567Z", datetime(2022, 5, 13, 11, 54, 42, 123456, tzinfo=UTC)),
        ("2022-05-13T13:24:42.5+01:30", datetime(2022, 5, 13, 11, 54, 42, 500000, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+02:00", None),
        ("", None),
        (None, None),
    ],
)
def test_times(text: str | None, moment: datetime | None) -> None:
    assert read(row(statusUpdatedAt=text)).reported_at == moment


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=OFFSETS),
    st.integers(2, 7),
)
def test_times_with_any_offset_and_2_to_7_digits(moment: datetime, digits: int) -> None:
    fraction = f"{moment.microsecond:06d}0"[:digits]
    text = f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction}{moment.isoformat()[-6:]}"
    read_moment = read(row(sourceUpdatedAt=text)).source_updated_at
    assert read_moment is not None and read_moment.tzinfo is UTC
    assert read_moment == moment.replace(microsecond=int(fraction.ljust(6, "0")[:6]))


@pytest.mark.parametrize(
    ("properties", "field"),
    [
        ({"statusUpdatedAt": "5/13/2022 11:54:42 AM"}, "statusUpdatedAt"),
        ({"statusUpdatedAt": 1652442882}, "statusUpdatedAt"),
        ({"sourceUpdatedAt": "9999-12-31T23:59:59-01:00"}, "sourceUpdatedAt"),
        ({"complianceState": 3}, "complianceState"),
        ({"suspend": "false"}, "suspend"),
        ({"kustomizations": [{"path": "apps"}]}, "kustomizations"),
        ({"statuses": {"kind": "Kustomization"}}, "statuses"),
        ({"statuses": [{"statusConditions": ["x"]}]}, "statuses.0.statusConditions.0"),
        ({"url": None}, "url"),
        ({"url": ["https://github.com/acme/gitops"]}, "url"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(properties: dict[str, Any], field: str) -> None:
    with pytest.raises(KalypsoError, match=re.escape(ID)) as raised:
        cluster_reports([row("small"), row(**properties), row("small-2")], KEY)
    assert f": {field}: " in raised.value.problem.message
    assert "the state of its cluster is unknown" in raised.value.problem.advice


@pytest.mark.parametrize("nameless", ["a text", None, [], {}, {"id": ""}, {"id": 3}, {"id": None}])
def test_a_row_without_id_is_named_by_its_place(nameless: object) -> None:
    with pytest.raises(KalypsoError, match="row 2 of the answer"):
        cluster_reports([row(), nameless], KEY)


def test_every_unreadable_row_is_reported() -> None:
    with pytest.raises(KalypsoError) as raised:
        cluster_reports([row("a", suspend=1), row("b"), row("c", suspend=1)], KEY)
    assert [
        re.findall(r"managedClusters/(\w)", str(problem)) for problem in raised.value.problems
    ] == [
        ["a"],
        ["c"],
    ]


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://github.com/ACME/GitOps.git", True),
        ("https://github.com/acme/gitops/", True),
        ("git@github.com:acme/gitops.git", True),
        ("ssh://git@github.com/acme/gitops", True),
        ("https://user@github.com/acme/gitops", True),
        ("https://github.com:443/acme/gitops", True),
        ("ssh://git@github.com:22/acme/gitops", True),
        ("ssh://git@ssh.github.com:443/acme/gitops.git", True),
        ("git@ssh.github.com:acme/gitops", True),
        ("https://github.com:8443/acme/gitops", False),
        ("ssh://git@github.com:443/acme/gitops", False),
        ("http://github.com:443/acme/gitops", False),
        ("https://github.com/acme/gitops-old", False),
        ("https://github.com/not-acme/gitops", False),
        ("https://ghes.acme.example/acme/gitops", False),
        ("https://[acme/gitops", False),
    ],
)
def test_only_rows_of_the_repository_itself(url: str, *, same: bool) -> None:
    assert len(cluster_reports([at_url(url)], KEY)) == int(same)


def test_an_unreadable_row_of_another_repository_does_not_matter() -> None:
    foreign = at_url("https://github.com/acme/gitops-old") | {"id": None}
    assert cluster_reports([foreign, row()], KEY) == (read(row()),)


LETTERS = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
LINE_ENDS = "\n\r\x85\u2028\u2029"


def texts_of(query: str) -> tuple[list[str], str]:
    """Return the strings of a KQL query, and the query with `?` in their places."""
    texts: list[str] = []
    rest = ""
    characters = iter(query)
    for character in characters:
        if character == "'":
            texts.append(_text(characters))
            rest += "?"
        else:
            rest += character
    return texts, rest


def _text(characters: Iterator[str]) -> str:
    """Read from an opening quote to the closing one."""
    text = ""
    for character in characters:
        if character == "'":
            return text
        assert character not in LINE_ENDS, "a line end inside a string"
        text += _escaped(characters) if character == "\\" else character
    raise AssertionError("a string without an end")


def _escaped(characters: Iterator[str]) -> str:
    letter = next(characters)
    if letter != "u":
        return LETTERS[letter]
    code = "".join(next(characters) for _ in range(4))
    assert set(code) <= set(hexdigits)
    return chr(int(code, 16))


TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("'\\\"\n\r\t\0|;)u0041\x7f\x85\u2028\u2029"))
)


@given(TEXTS, TEXTS)
def test_nothing_in_a_name_ends_its_string(repository: str, branch: str) -> None:
    texts, rest = texts_of(flux_configurations_query(repository, branch))
    assert texts == ["microsoft.kubernetesconfiguration/fluxconfigurations", branch, repository]
    assert rest == texts_of(flux_configurations_query("", ""))[1]


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("dev", "'dev'"),
        ("it's", r"'it\'s'"),
        ("back\\", r"'back\\'"),
        ("\\' or 1==1 //", r"'\\\' or 1==1 //'"),
        ("a\tb\nc\rd", r"'a\tb\nc\rd'"),
        ("\0\x7f\u2028", r"'\u0000\u007f\u2028'"),
        ("{branch} é 𝄞", "'{branch} é 𝄞'"),
    ],
)
def test_strings_are_written_as_kql_reads_them(text: str, literal: str) -> None:
    assert string_literal(text) == literal


def test_the_query() -> None:
    assert flux_configurations_query("acme/gitops", "dev").splitlines() == [
        "kubernetesconfigurationresources",
        "| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'",
        "| where tostring(properties.gitRepository.repositoryRef.branch) == 'dev'",
        "| where tostring(properties.gitRepository.url) contains 'acme/gitops'",
        "| project id, url = properties.gitRepository.url, "
        "complianceState = properties.complianceState, "
        "provisioningState = properties.provisioningState, suspend = properties.suspend, "
        "errorMessage = properties.errorMessage, "
        "sourceSyncedCommitId = properties.sourceSyncedCommitId, "
        "sourceUpdatedAt = properties.sourceUpdatedAt, "
        "statusUpdatedAt = properties.statusUpdatedAt, "
        "kustomizations = properties.kustomizations, statuses = properties.statuses",
        "| order by id asc",
    ]


def test_a_row_that_cannot_be_read_is_a_problem_of_its_branch_alone() -> None:
    given_rows = [
        row("a", branch="dev"),
        row("b", branch="dev", complianceState=7),
        row("c", branch="stage"),
        row("d", branch=None),
        row("e", branch="dev", url=""),
        {"nonsense": True},
    ]
    reports, problems = fleet_answer(
        placed_report(each, place) for place, each in enumerate(given_rows, start=1)
    )
    key = repository_key(REPOSITORY)
    names = {
        place: [each.cluster.rpartition("/")[2] for each in found]
        for place, found in reports.items()
    }
    assert names == {(key, "dev"): ["a"], (key, "stage"): ["c"]}
    assert problems.keys() == {(key, "dev"), ("", "")}
    answer = FleetAnswer(reports, problems)
    with pytest.raises(KalypsoError, match="row 6"):
        answer.of(FollowedTree(REPOSITORY, "stage"))
    answer = FleetAnswer(reports, {(key, "dev"): problems[key, "dev"]})
    assert len(answer.of(FollowedTree(f"{REPOSITORY}.git", "stage"))) == 1
    with pytest.raises(KalypsoError, match="complianceState"):
        answer.of(FollowedTree(REPOSITORY, "dev"))
