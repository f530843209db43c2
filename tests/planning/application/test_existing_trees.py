"""A run adds, changes, deletes and keeps files in a GitOps tree, and commits the result."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kalypso_actions.model.application import DESCRIPTOR_TEMPLATE
from tests.command_line import call_kalypso
from tests.git_repositories import commit, git, repository
from tests.planning.application.applications import CHART, POSIX, Application, Rendered, call

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
CONFIGS = {"a/values.yaml": "", "b/values.yaml": ""}
IMAGE = ("--version=1", "--image-tag=1")
RECORD = ".github/tracking/application.json"


def test_a_second_run_changes_nothing(application: Application) -> None:
    first = application.render(configs=CONFIGS)
    changes = first.document["changes"]
    assert (len(changes["added"]), changes["modified"], changes["deleted"]) == (8, [], [])
    second = application.render(gitops=first.files)
    changes = second.document["changes"]
    assert (changes["added"], changes["modified"], changes["deleted"]) == ([], [], [])
    assert len(changes["unchanged"]) == 8
    assert second.files == first.files


def test_dropped_targets_are_deleted_and_files_of_others_stay(application: Application) -> None:
    first = application.render(configs=CONFIGS).files
    others = {"README.md": "text\n", "b/notes.md": "text\n", "int-test/install.yml": "- hosts: x\n"}
    (application.folder / "configs" / "b" / "values.yaml").unlink()
    done = application.render(gitops={**first, **others})
    changes = done.document["changes"]
    assert changes["deleted"] == ["b/gen_manifests.yaml", "b/kustomization.yaml"]
    assert changes["kept"] == ["README.md", "b/notes.md", "int-test/install.yml"]
    assert others.items() <= done.files.items()


def plain(
    tmp_path: Path, *options: str, targets: int, tree: dict[str, str] | None = None
) -> Rendered:
    """Render so many targets from one manifest, without a program."""
    shutil.rmtree(tmp_path / "configs", ignore_errors=True)
    configs = {f"t{number}/values.yaml": "" for number in range(targets)}
    source = {"manifests/a.yaml": MAP.format("a")}
    return Application(tmp_path).render(*options, source=source, configs=configs, gitops=tree)


@pytest.mark.parametrize(
    ("before", "after", "options", "gone"),
    [
        (10, 2, (), 8),
        (10, 6, (), 4),
        (10, 7, (), 0),
        (10, 6, ("--max-removal-percent=40",), 0),
        (10, 9, ("--max-removal-percent=0",), 1),
        (2, 1, (), 0),
        (3, 1, (), 2),
        (200, 130, (), 70),
        (200, 140, (), 0),
    ],
)
def test_most_targets_do_not_vanish(
    tmp_path: Path, before: int, after: int, options: tuple[str, ...], gone: int
) -> None:
    tree = plain(tmp_path, targets=before).files
    done = plain(tmp_path, *options, targets=after, tree=tree)
    assert done.codes() == (["mass-removal"] if gone else [])
    if gone:
        assert f"{gone} of {before} targets" in done.messages()
        assert all(f"t{number}" in done.messages() for number in range(after, before))
        assert (done.status, done.files) == (1, tree)
        done = plain(tmp_path, *options, "--allow-removals", targets=after, tree=tree)
        assert done.codes("warnings") == ["mass-removal"]
    assert done.status == 0
    assert len(done.document["changes"]["deleted"]) == 2 * (before - after)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("record", [True, False], ids=["our tree", "upstream's tree"])
def test_all_targets_do_not_vanish_whatever_their_number(
    tmp_path: Path, number: int, record: bool
) -> None:
    tree = plain(tmp_path, targets=number).files
    tree = {path.replace("t", "old", 1) if path[0] == "t" else path: tree[path] for path in tree}
    if record:
        tree[RECORD] = tree[RECORD].replace('"t', '"old')
    else:
        del tree[RECORD]
    done = plain(tmp_path, "--max-removal-percent=100", targets=number, tree=tree)
    assert done.codes() == ["mass-removal"]
    assert f"{number} of {number} targets" in done.messages()


@POSIX
def test_a_target_of_a_command_does_not_vanish(tmp_path: Path) -> None:
    command = "printf 'apiVersion: v1\\nkind: A\\nmetadata: {name: a}\\n' > $KALYPSO_OUT/a.yaml"
    own = ("--generator=command", f"--generator-command={command}")
    tree = plain(tmp_path, *own, targets=2).files
    assert "t1/gen_manifests.yaml" not in tree
    shutil.rmtree(tmp_path / "configs")
    done = Application(tmp_path).render(*own, configs={"new/values.yaml": ""}, gitops=tree)
    assert done.codes() == ["mass-removal"]
    assert done.messages().endswith("t0, t1")


WORKLOAD = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: greeter}
spec:
  deploymentTargets:
  - name: test
    labels: {}
    environment: dev
    manifests: {repo: https://github.com/acme/greeter-gitops, branch: dev, path: ./t0}
"""


@pytest.mark.parametrize("cause", ["no workspace", "no target", "faulty workload"])
def test_a_descriptor_does_not_vanish_in_silence(tmp_path: Path, cause: str) -> None:
    application = Application(tmp_path)
    application.write("source", {"workload/workload.yaml": WORKLOAD})
    first = plain(tmp_path, "--workspace=acme", targets=2)
    path = "t0/descriptor/deployment_descriptor.yaml"
    assert path in first.files
    option = "--workspace=" if cause == "no workspace" else "--workspace=acme"
    if cause == "no target":
        application.write("source", {"workload/workload.yaml": WORKLOAD.replace("./t0", "./t9")})
    if cause == "faulty workload":
        application.write("source", {"workload/workload.yaml": "a: [\n"})
    done = plain(tmp_path, option, targets=2, tree=first.files)
    assert done.status == 0
    assert done.document["changes"]["deleted"] == [path]
    assert ("descriptor-missing", path, 0) in done.places("warnings")
    again = plain(tmp_path, option, targets=2, tree=done.files)
    assert "descriptor-missing" not in again.codes("warnings")


def test_a_descriptor_of_upstreams_template_does_not_vanish_in_silence(tmp_path: Path) -> None:
    template = {DESCRIPTOR_TEMPLATE: "name: $WORKLOAD\n"}
    folder = Application(tmp_path).write("source", template)
    first = plain(tmp_path, "--compatibility=current", targets=1).files
    (folder / DESCRIPTOR_TEMPLATE).unlink()
    done = plain(tmp_path, "--compatibility=current", targets=1, tree=first)
    path = "t0/descriptor/deployment_descriptor.yaml"
    assert ("descriptor-missing", path, 0) in done.places("warnings")


def test_a_tree_of_upstreams_has_no_record(application: Application) -> None:
    """Upstream's files are known by their names in a folder with generated manifests."""
    old = {
        "old/gen_manifests.yaml": "kind: X\n",
        "old/kustomization.yaml": "resources:\n- gen_manifests.yaml\n",
        "old/descriptor/deployment_descriptor.yaml": "kind: Y\n",
        "old/extra.yaml": "kind: Z\n",
        "ansible/descriptor/deployment_descriptor.yaml": "kind: Y\n",
        ".github/workflows/notify-on-pr.yml": "on: push\n",
        ".github/tracking/Image_name": "x\n",
    }
    done = application.render("--allow-removals", configs=CONFIGS, gitops=old)
    changes = done.document["changes"]
    assert changes["deleted"] == [
        "old/descriptor/deployment_descriptor.yaml",
        "old/gen_manifests.yaml",
        "old/kustomization.yaml",
    ]
    assert changes["kept"] == [
        ".github/tracking/Image_name",
        ".github/workflows/notify-on-pr.yml",
        "ansible/descriptor/deployment_descriptor.yaml",
        "old/extra.yaml",
    ]
    assert changes["edited"] == ["old/kustomization.yaml"]


def test_edits_by_hand_are_reported(application: Application) -> None:
    tree = application.render(configs=CONFIGS).files
    tree["a/gen_manifests.yaml"] += "# by hand\n"
    tree["b/gen_manifests.yaml"] += "# by hand\n"
    (application.folder / "configs" / "b" / "values.yaml").unlink()
    done = application.render(gitops=tree)
    assert done.places("warnings") == [
        ("gitops-file-edited", "a/gen_manifests.yaml", 0),
        ("gitops-file-edited", "b/gen_manifests.yaml", 0),
    ]
    assert "overwrites" in done.messages("warnings")
    assert "deletes" in done.messages("warnings")
    assert "by hand" not in done.files["a/gen_manifests.yaml"]


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ((), "--version and --image-tag"),
        (("--image-tag=1",), "--version"),
        (("--version=1",), "--image-tag"),
    ],
)
def test_what_is_deployed_is_named(tmp_path: Path, options: tuple[str, ...], missing: str) -> None:
    """Anybody who may write to the GitOps repository may edit its tracking files."""
    tree = {".github/tracking/Version": "1\n", ".github/tracking/Image_tag": "evil\n"}
    source, configs = {"manifests/a.yaml": MAP.format("a")}, {"a/values.yaml": ""}
    done = Application(tmp_path).render(
        source=source, configs=configs, gitops=tree, variables=options
    )
    assert done.status == 2
    assert f"{missing} must be given" in done.messages()


def test_tracked_commits_are_not_believed(application: Application) -> None:
    first = application.render(configs=CONFIGS).files
    source = {"helm/templates/commit.yaml": MAP.format("{{ .Values.commit }}")}
    configs = {"a/values.yaml": "commit: c$SRC_COMMIT\n"}
    variables = ("--source-repository=acme/greeter", "--version=1", "--image-tag=1")
    done = application.render(source=source, configs=configs, gitops=first, variables=variables)
    assert done.places() == [("variable-undefined", "a/values.yaml", 1)]
    assert "give it with --source-commit" in str(done.document)
    assert "SRC_COMMIT" not in done.document["variables"]


@pytest.mark.parametrize(
    ("mode", "image"), [("current", "--image-tag=0.0.1-7"), ("2023", "--image-name=acme/greeter:7")]
)
def test_upstreams_modes_take_what_the_tree_tracks(
    application: Application, mode: str, image: str
) -> None:
    own, fixed = f"--compatibility={mode}", "--source-repository=acme/greeter"
    commits = ("--source-commit=abc", "--config-revision=def", "--version=7")
    source = {**CHART, "helm/values.yaml": CHART["helm/values.yaml"].replace(":$IMAGE_TAG", "")}
    first = application.render(
        own, source=source, configs=CONFIGS, variables=(fixed, *commits, image)
    )
    done = application.render(own, source={}, gitops=first.files, variables=(fixed,))
    tracked = {"VERSION", "SRC_COMMIT", "CONFIG_REVISION"}
    tracked.add("IMAGE_TAG" if mode == "current" else "IMAGE_NAME")
    for name in tracked:
        assert done.document["variables"][name] == first.document["variables"][name]
    assert done.document["changes"]["modified"] == []
    assert "tracking-differs" not in done.codes("warnings")
    variables = (fixed, "--version=8", commits[0], f"{image}8")
    done = application.render(own, source={}, gitops=first.files, variables=variables)
    assert done.document["variables"]["VERSION"] == "8"
    file = "Image_tag" if mode == "current" else "Image_name"
    assert sorted(place for place in done.places("warnings") if place[0] == "tracking-differs") == [
        ("tracking-differs", f".github/tracking/{file}", 0),
        ("tracking-differs", ".github/tracking/Version", 0),
    ]


def test_a_tracked_value_that_is_no_line(application: Application) -> None:
    tree = {".github/tracking/Version": "1\nreplicas: 9\n"}
    done = application.render("--compatibility=current", configs=CONFIGS, gitops=tree)
    assert done.places() == [("", ".github/tracking/Version", 0)]
    assert "$VERSION '1\\nreplicas: 9' may hold" in done.messages()


def test_an_output_with_other_files_is_refused(application: Application) -> None:
    application.write("out", {"mine.txt": "text\n"})
    done = application.render(configs=CONFIGS)
    assert done.status == 2
    assert "is not an output of this command" in done.messages()
    assert done.files == {"mine.txt": "text\n"}


def test_an_output_loses_the_files_of_an_earlier_run_only(application: Application) -> None:
    application.render(configs=CONFIGS)
    (application.folder / "configs" / "b" / "values.yaml").unlink()
    done = application.render()
    assert not any(path.startswith("b/") for path in done.files)
    application.write("out", {"mine.txt": "text\n"})
    done = application.render()
    assert done.status == 2
    assert "mine.txt" in done.messages()


def test_a_problem_writes_nothing(application: Application) -> None:
    first = application.render(configs=CONFIGS).files
    done = application.render(configs={"c/values.yaml": "a: [\n"})
    assert (done.status, done.document["compared"]) == (1, False)
    assert done.files == first


def test_the_record_names_sources_programs_and_files(application: Application) -> None:
    done = application.render("--namespace=web", configs=CONFIGS)
    record = json.loads(done.files[RECORD])
    assert record["schema"] == "kalypso.app-sources/v1"
    assert record["options"]["namespace"] == "web"
    assert record["programs"] == done.document["programs"]
    assert record["files"].keys() == done.files.keys() - {RECORD}
    assert str(application.folder) not in done.files[RECORD]


def test_changes_are_committed_to_a_branch(application: Application) -> None:
    clone = repository(application.folder / "work", branch="dev")
    commit(clone, {"README.md": "text\n", "old/gen_manifests.yaml": "kind: X\n"})
    bare = application.folder / "gitops.git"
    git(application.folder, "clone", "--quiet", "--bare", str(clone), str(bare))
    done = application.render(f"--commit-to={bare}@dev", "--allow-removals", configs=CONFIGS)
    assert done.status == 0, done.messages()
    assert git(bare, "rev-parse", "dev") == done.document["commit"]
    assert git(bare, "log", "-1", "--format=%s by %an <%ae>", "dev") == (
        "deployment 0.0.1-7 by Git <agent@gitops.com>"
    )
    paths = git(bare, "ls-tree", "-r", "--name-only", "dev").split()
    assert "a/gen_manifests.yaml" in paths
    assert "README.md" in paths
    assert "old/gen_manifests.yaml" not in paths
    again = application.render(f"--commit-to={bare}@dev")
    assert again.document["commit"] == ""
    assert git(bare, "rev-list", "--count", "dev") == "2"


def test_a_new_branch_is_created(application: Application) -> None:
    bare = application.folder / "gitops.git"
    git(application.folder, "init", "--quiet", "--bare", str(bare))
    done = application.render(f"--commit-to={bare}@dev", configs=CONFIGS)
    assert git(bare, "rev-parse", "dev") == done.document["commit"]


def test_a_new_branch_begins_at_the_given_tree(application: Application) -> None:
    clone = repository(application.folder / "clone", branch="dev")
    head = commit(clone, {"README.md": "text\n"})
    new = f"--commit-to={clone}@deploy/1/dev"
    done = application.render(f"--gitops={clone}", new, configs=CONFIGS)
    assert git(clone, "rev-parse", "deploy/1/dev^") == head
    assert "README.md" in git(clone, "ls-tree", "--name-only", done.document["commit"])
    done = application.render(f"--gitops={clone}", new)
    assert (done.status, "is not the head of the branch" in done.messages()) == (2, True)


def test_commits_of_the_repositories_are_read(application: Application) -> None:
    """`PATH@REV` ignores the folder, which other commits and edits have changed."""
    configs = repository(application.folder / "configs")
    old = commit(configs, {"a/values.yaml": "replicas: 7\n"})
    commit(configs, {"a/values.yaml": "replicas: 8\n"})
    application.write("configs", {"a/values.yaml": "replicas: 9\n"})
    source, out = application.write("source", {}), application.folder / "out"
    application.render()
    for place, replicas in ((f"{configs}@{old}", 7), (f"{configs}@main", 8), (configs, 9)):
        done = call(
            *("app", "render", f"--source={source}", f"--configs={place}", "--environment=dev"),
            *("--version=1", "--image-tag=1", "--image-name=x", f"--out={out}"),
            out=out,
        )
        assert f"replicas: {replicas}\n" in done.files["a/gen_manifests.yaml"]


def test_the_existing_tree_is_that_of_the_environments_branch(application: Application) -> None:
    clone = repository(application.folder / "clone", branch="dev")
    old = commit(clone, application.render(configs=CONFIGS).files)
    commit(clone, {"a/kustomization.yaml": "kind: edited\n"})
    git(clone, "checkout", "--quiet", "--orphan", "main")
    commit(clone, {"README.md": "text\n"})
    for place, modified in (
        (clone, ["a/kustomization.yaml"]),
        (clone.as_uri(), ["a/kustomization.yaml"]),
        (f"{clone}@{old}", []),
        (f"{clone.as_uri()}@{old}", []),
    ):
        done = application.render(f"--gitops={place}")
        assert done.document["changes"]["modified"] == modified, done.messages()
        branch = old if modified == [] else "dev"
        assert done.document["sources"][2]["branch"] == branch


def test_urls_are_fetched(application: Application) -> None:
    source = repository(application.folder / "source")
    old = commit(source, {"manifests/a.yaml": MAP.format("old")})
    commit(source, {"manifests/a.yaml": MAP.format("new")})
    configs = repository(application.folder / "configs", branch="dev")
    commit(configs, {"a/values.yaml": ""})
    out = application.folder / "out"
    for revision, name in ((f"@{old}", "old"), ("@main", "new"), ("", "new")):
        done = call(
            *("app", "render", f"--source={source.as_uri()}{revision}", "--environment=dev"),
            *(f"--configs={configs.as_uri()}@dev", f"--out={out}", *IMAGE),
            out=out,
        )
        assert f"name: {name}\n" in done.files["a/gen_manifests.yaml"], done.messages()
        assert done.document["variables"]["SOURCE_BRANCH"] == "main"
    missing = f"--source={source.as_uri()}@no-such-branch"
    done = call(
        *("app", "render", missing, f"--configs={configs.as_uri()}", "--environment=dev", *IMAGE),
        out=out,
    )
    assert (done.status, "no-such-branch" in done.messages()) == (1, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--version=1 2"], "--version: '1 2' may hold"),
        (["--namespace=Web"], "--namespace: 'Web'"),
        (["--kube-version=latest"], "--kube-version: 'latest' is not a version of Kubernetes"),
        (["--path=../other"], "--path: '../other' is not a folder of the source"),
        (["--generator=command"], "need each other"),
        (["--commit-to=gitops"], "--commit-to needs REPOSITORY@BRANCH"),
        (["--commit-to=gitops@dev"], "--commit-to gitops: there is no such repository"),
        (["--api-versions=a b"], "--api-versions: 'a b' is not an API version"),
        (["--environment=Dev"], "--environment: 'Dev'"),
        (["--compatibility=2024"], "--compatibility"),
        (["--source=no-such-folder"], "there is no such folder"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_wrong_options(tmp_path: Path, options: list[str], words: str) -> None:
    done = Application(tmp_path).render(*options, source={}, configs={})
    assert done.status == 2
    assert words in done.messages()


def test_an_output_inside_an_input_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "source" / "out"
    done = Application(tmp_path).render(f"--out={out}", source={}, configs={})
    assert (done.status, "which the command reads" in done.messages()) == (2, True)


def test_configs_of_the_environments_branch(tmp_path: Path) -> None:
    configs = repository(tmp_path / "configs", branch="dev")
    commit(configs, {"a/values.yaml": ""})
    git(configs, "checkout", "--quiet", "-b", "main")
    commit(configs, {"b/values.yaml": ""})
    application = Application(tmp_path)
    done = application.render(source={"manifests/a.yaml": MAP.format("a")}, configs={})
    assert done.codes("warnings") == ["configs-branch"]
    assert "'main', not of 'dev'" in done.messages("warnings")
    bare = tmp_path / "configs.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(configs), str(bare))
    for place in (bare, bare.as_uri(), f"{configs}@dev"):
        options = [f"--source={tmp_path / 'source'}", f"--configs={place}", "--environment=dev"]
        options += IMAGE
        done = call("app", "render", *options, out=tmp_path / "none")
        assert [target["folder"] for target in done.document["targets"]] == ["a"]
        assert not done.document["warnings"]


def test_the_text_for_people(application: Application) -> None:
    source = application.write("source", {"manifests/a.yaml": ""})
    configs = application.write("configs", {"a/values.yaml": ""})
    done = call_kalypso(
        *("app", "render", "--source", source, "--configs", configs, "--environment", "dev", *IMAGE)
    )
    assert done.returncode == 0
    assert "manifests: 2 added, 0 modified, 0 deleted, 0 unchanged" in done.stdout
    assert "  added a/gen_manifests.yaml" in done.stdout
