"""Parsing a document to its resource, or to all its problems."""

from __future__ import annotations

import pytest

from kalypso_actions.model.documents import TextPlace
from kalypso_actions.model.kinds import ClusterType, ConfigMap, SchedulingPolicy, Template, Workload
from tests.builders import documents
from tests.fleet.parsed_documents import parse

CLUSTER_TYPE = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: large
  labels: {size: large}
spec:
  reconciler: flux
  namespaceService: default
"""


def test_a_cluster_type_in_its_old_form() -> None:
    noun, problems, warnings = parse(CLUSTER_TYPE)
    assert isinstance(noun, ClusterType)
    assert (noun.name, noun.labels, noun.config_type) == ("large", {"size": "large"}, "")
    assert not problems
    assert not warnings


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param(
            "{size: large}",
            "{size: 5}",
            "test: file.yaml:5: ClusterType 'large': metadata.labels.size must be a text, but it is "
            "the number 5 (write it in quotes)",
            id="a number as a label",
        ),
        pytest.param(
            "{size: large}",
            "{edge: yes}",
            "test: file.yaml:5: ClusterType 'large': metadata.labels.edge must be a text, but it is "
            "the boolean true (write it in quotes)",
            id="a YAML 1.1 boolean as a label",
        ),
        pytest.param(
            "{size: large}",
            "[size]",
            "test: file.yaml:5: ClusterType 'large': metadata.labels must be a mapping, but it is a "
            "list",
            id="a list of labels",
        ),
        pytest.param(
            "  reconciler: flux\n",
            "",
            "test: file.yaml:6: ClusterType 'large': spec.reconciler is missing",
            id="missing",
        ),
        pytest.param(
            "name: large",
            "name: Large",
            "test: file.yaml:4: ClusterType: the name 'Large' may hold lower-case letters, digits, "
            "'-' and '.' only, and must start and end with a letter or a digit",
            id="name",
        ),
        pytest.param(
            "{size: large}",
            "{size: not ok}",
            "test: file.yaml:5: ClusterType 'large': the value of label 'size' may hold letters, "
            "digits, '-', '_' and '.' only, and must start and end with a letter or a digit",
            id="label value",
        ),
        pytest.param(
            "v1alpha1",
            "v1beta1",
            "test: file.yaml:1: ClusterType has apiVersion 'scheduler.kalypso.io/v1beta1' (write "
            "apiVersion: scheduler.kalypso.io/v1alpha1)",
            id="apiVersion",
        ),
        pytest.param(
            "kind: ClusterType",
            "kind: ClusterTipe",
            "test: file.yaml:2: unknown kind 'ClusterTipe' (did you mean ClusterType?)",
            id="kind",
        ),
    ],
)
def test_problems(old: str, new: str, problem: str) -> None:
    noun, problems, _ = parse(CLUSTER_TYPE.replace(old, new))
    assert noun is None
    assert problems == [problem]


def test_every_problem_is_reported_at_once() -> None:
    text = CLUSTER_TYPE.replace("  reconciler: flux\n", "").replace("{size: large}", "{a: 1, b: 2}")
    _, problems, _ = parse(text)
    assert len(problems) == 3


CONFIG = """
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: app, labels: {platform-config: "true"}}
    data: {REGION: "ENC[AES256_GCM,data:Tr7o=,type:str]"}
"""


def test_values_that_arrive_encrypted_or_not_at_all() -> None:
    _, problems, warnings = parse(f"{CONFIG}    binaryData: {{A: eA==}}\n    sops: {{mac: x}}\n")
    assert not problems
    assert [warning.partition(" (")[0] for warning in warnings] == [
        "test: file.yaml:7: ConfigMap 'app' is encrypted with SOPS: its values arrive encrypted",
        "test: file.yaml:6: ConfigMap 'app': binaryData is not read: A",
    ]
    unread = CONFIG.replace('"true"', '"false"')
    assert parse(f"{unread}    binaryData: {{A: eA==}}\n    sops: {{mac: x}}\n")[1:] == ([], [])
    assert "ClusterType 'large' is encrypted" in parse(f"{CLUSTER_TYPE}sops: {{mac: x}}\n")[2][0]


def test_unknown_fields_warn_with_the_nearest_name() -> None:
    noun, problems, warnings = parse(CLUSTER_TYPE + "  configtype: configmap\n")
    assert noun is not None
    assert not problems
    assert warnings == [
        "test: file.yaml:9: ClusterType 'large': unknown field spec.configtype "
        "(did you mean configType?)"
    ]


def test_unknown_fields_in_lists() -> None:
    _, _, warnings = parse(
        """\
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Workload
        metadata: {name: app}
        spec:
          deploymentTargets:
          - name: web
            enviroment: dev
            environment: dev
            manifests: {repo: r}
        """
    )
    assert warnings == [
        "test: file.yaml:7: Workload 'app': unknown field spec.deploymentTargets.0.enviroment "
        "(did you mean environment?)"
    ]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("", {}), ("{size: }", {"size": ""}), ("{size: ~, a: b}", {"size": "", "a": "b"})],
)
def test_labels_and_their_values_may_be_null(labels: str, expected: dict[str, str]) -> None:
    noun, problems, _ = parse(CLUSTER_TYPE.replace("{size: large}", labels))
    assert isinstance(noun, ClusterType)
    assert noun.labels == expected
    assert not problems


def test_a_null_value_is_an_empty_text_in_all_labels() -> None:
    noun, problems, _ = parse(
        """\
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Workload
        metadata: {name: app, labels: {tier: }, annotations: {owner: }}
        spec:
          deploymentTargets:
          - {name: web, environment: dev, labels: {purpose: }, manifests: {}}
        """
    )
    assert isinstance(noun, Workload)
    assert (noun.targets[0].labels, noun.annotations) == (
        {"purpose": "", "tier": ""},
        {"owner": ""},
    )
    assert not problems


def test_a_config_map_knows_the_lines_of_its_keys() -> None:
    noun, _, _ = parse(
        """\
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: c}
        data:
          A: x
          B: |
            y
        """
    )
    assert isinstance(noun, ConfigMap)
    assert noun.data == {"A": "x", "B": "y\n"}
    assert (noun.at("A").line, noun.at("B").line) == (5, 6)


@pytest.mark.parametrize("value", ["5", "true", "1.5", "[a]", "{a: b}", "null", "on"])
def test_data_that_kubernetes_would_refuse(value: str) -> None:
    noun, problems, _ = parse(
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{A: {value}}}}}"
    )
    assert noun is None
    assert "data.A must be a text, but it is " in problems[0]


@pytest.mark.parametrize(
    ("rest", "advice"),
    [
        (
            "data:\n  LOGGING:\n    level: info\n",
            "write LOGGING: | to make the lines below it a text",
        ),
        ("data:\n  PORTS: [1]\n", "write PORTS: | to make the lines below it a text"),
        ("data:\n- A: b\n- C: d\n", "remove the dashes before its keys"),
        ("data:\n  A: 1\n", "write it in quotes"),
    ],
)
def test_a_form_that_is_not_meant(rest: str, advice: str) -> None:
    _, problems, _ = parse(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n{rest}")
    assert len(problems) == 1
    assert advice in problems[0]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: []\n", "but it is a list"),
        (
            "apiVersion: kalypso.io/v1alpha1\nkind: PromotionPolicy\nmetadata: {name: p}\n"
            "spec: {requires: {deployed: [[a]]}}\n",
            "spec.requires.deployed.0 must be a text, but it is a list",
        ),
    ],
)
def test_a_form_without_a_better_one(document: str, said: str) -> None:
    _, problems, _ = parse(document)
    assert len(problems) == 1
    assert problems[0].endswith(said)


def test_a_value_that_is_a_comment() -> None:
    _, problems, _ = parse(
        """\
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: c}
        data:
          COLOUR: #ff8800
        """
    )
    (problem,) = problems
    assert 'a # begins a comment: write "#…"' in problem


GITHUB, GITLAB = "https://github.com/acme/app", "https://gitlab.test/acme/team/app"


@pytest.mark.parametrize(
    ("repo", "meant", "rest"),
    [
        (f"{GITHUB}/tree/main/chart", GITHUB, "main/chart"),
        (f"{GITHUB}/blob/main/a.yaml", GITHUB, "main/a.yaml"),
        (f"{GITLAB}/-/tree/release/1", GITLAB, "release/1"),
        ("http://127.0.0.1:8080/tree/blob/tree/main", "http://127.0.0.1:8080/tree/blob", "main"),
        (GITHUB, "", ""),
        (GITLAB, "", ""),
        ("https://github.com/blob/tree", "", ""),
    ],
)
@pytest.mark.parametrize("kind", ["BaseRepo", "GitOpsRepo"])
def test_the_address_of_a_page_is_no_repository(
    kind: str, repo: str, meant: str, rest: str
) -> None:
    commit = f", commit: {40 * 'a'}" if kind == "BaseRepo" else ""
    _, problems, warnings = parse(
        f"{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: {kind}, metadata: {{name: r}}, "
        f"spec: {{repo: '{repo}', branch: main, path: .{commit}}}}}"
    )
    assert not problems
    told = [
        f"test: file.yaml:1: {kind} 'r': spec.repo is the address of a page, not the URL of a "
        f"repository (write {meant}; {rest} belongs into branch and path)"
    ]
    assert warnings == (told if meant else [])


def test_templates_in_both_forms() -> None:
    noun, problems, _ = parse(
        """\
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Template
        metadata: {name: t}
        spec:
          type: reconciler
          manifests:
          - |
            text
          - {kind: Object}
        """
    )
    assert isinstance(noun, Template)
    assert noun.manifests == ("text\n", {"kind": "Object"})
    assert noun.manifest_places == (TextPlace(8, 5), TextPlace(9, 5, is_literal=False))
    assert not problems


def test_a_manifest_is_a_text_or_an_object() -> None:
    _, problems, _ = parse(
        "{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Template, metadata: {name: t}, "
        "spec: {type: x, manifests: [5]}}"
    )
    assert problems == [
        "test: file.yaml:1: Template 't': spec.manifests.0 must be a text or, in the old form, an "
        "object"
    ]


def test_a_workloads_labels_win_over_its_targets() -> None:
    noun, _, _ = parse(
        """\
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Workload
        metadata: {name: app, labels: {tier: gold, kind: web}}
        spec:
          configSchemas: [W]
          deploymentTargets:
          - name: web
            environment: dev
            labels: {tier: silver, own: "1"}
            manifests: {repo: r, branch: b, path: p}
            configSchemas: [T]
        """
    )
    assert isinstance(noun, Workload)
    (target,) = noun.targets
    assert target.name == "app-web"
    assert target.labels == {"tier": "gold", "kind": "web", "own": "1"}
    assert target.config_schemas == ("T", "W")


def test_a_policy_keeps_its_selectors_as_written() -> None:
    noun, _, _ = parse(
        """\
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: SchedulingPolicy
        metadata: {name: p}
        spec:
          deploymentTargetSelector:
            workspace: team
            labelSelector:
              matchExpressions:
              - {key: a, operator: In, values: [x]}
          clusterTypeSelector:
            labelSelector: {}
        """
    )
    assert isinstance(noun, SchedulingPolicy)
    assert noun.workspace == "team"
    assert noun.deployment_targets.match_expressions[0].values == ("x",)
    assert noun.cluster_types.match_labels == {}


@pytest.mark.parametrize(
    ("manifest", "line"),
    [("|\n    text\n", 8), ('"text\\n"\n', 7), ("text\n", 7)],
    ids=["block", "quoted", "plain"],
)
def test_the_first_line_of_a_manifest(manifest: str, line: int) -> None:
    header = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata: {name: t}\n"
    spec = f"spec:\n  type: x\n  manifests:\n  - {manifest}"
    noun, _, _ = parse(header + spec)
    assert isinstance(noun, Template)
    assert [place.line for place in noun.manifest_places] == [line]
    item = "".join(f"  {row}\n" for row in (header + spec).splitlines())
    in_a_list = documents("apiVersion: v1\nkind: List\nitems:\n-\n" + item)
    assert ("items", 0, "spec", "manifests", 0) in in_a_list[0].marks


def test_no_fault_of_a_document_hides_another() -> None:
    text = CLUSTER_TYPE.replace("reconciler", "reconcilr").replace("large}", "5, a/: x}")
    noun, problems, warnings = parse(text.replace("name: large", "name: Large"))
    assert noun is None
    assert [problem.partition("ClusterType")[2][:45] for problem in problems] == [
        " 'Large': metadata.labels.size must be a text",
        " 'Large': spec.reconciler is missing",
        ": the name 'Large' may hold lower-case letter",
        " 'Large': the label key 'a/' has no name part",
    ]
    assert warnings == [
        "test: file.yaml:7: ClusterType 'Large': unknown field spec.reconcilr (did you mean "
        "reconciler?)"
    ]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("dev", ""),
        ("dev-edge", ""),
        (
            "dev.edge",
            "test: file.yaml:3: Environment: the name 'dev.edge' becomes a namespace and may hold "
            "lower-case letters, digits and '-' only, and must start and end with a letter or a digit "
            "(write dev-edge)",
        ),
    ],
)
def test_an_environment_becomes_a_namespace(name: str, fault: str) -> None:
    """A name with a dot could not, and `dev.edge` is our branch for the object `edge` of `dev`."""
    place = "{repo: https://git.test/acme/control-plane, branch: dev, path: .}"
    noun, problems, _ = parse(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Environment\n"
        f"metadata: {{name: {name}}}\nspec: {{controlPlane: {place}}}\n"
    )
    assert (noun is None, problems) == (bool(fault), [fault] if fault else [])


@pytest.mark.parametrize(
    ("commit", "problems"),
    [
        ("''", 0),
        ("'" + "a" * 40 + "'", 0),
        ("'" + "a" * 64 + "'", 0),
        ("4a0821c", 1),
        ("main", 1),
        ('"' + "a" * 40 + '\\n"', 1),
        ("'" + "A" * 40 + "'", 1),
    ],
)
def test_the_commit_of_a_base_repo_is_a_full_id(commit: str, problems: int) -> None:
    """The commit is written to the tracking file unchanged."""
    spec = f"{{repo: r, branch: main, path: ., commit: {commit}}}"
    _, diagnostics, _ = parse(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\n"
        f"metadata: {{name: main}}\nspec: {spec}\n"
    )
    expected = (
        "test: file.yaml:4: BaseRepo 'main': spec.commit must be a full commit id, 40 hexadecimal "
        "digits in lower case"
    )
    assert diagnostics == [expected] * problems
