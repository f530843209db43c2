"""Reading one run's sources from real git repositories, with last good commits."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from kalypso_actions.clients.git import is_repository
from kalypso_actions.commands.shared.reading import repositories
from kalypso_actions.errors import KalypsoError
from tests.commands.reading.planes import Planes, document, template, workload
from tests.git_repositories import commit_branch, git


@pytest.fixture
def planes(tmp_path: Path) -> Planes:
    return Planes(tmp_path)


def test_the_environment_object_names_the_branch_and_path(planes: Planes) -> None:
    result = planes.render()
    assert not result.problems
    assert [(s.part, s.branch, s.path) for s in result.sources] == [
        ("environment", "env/dev", "fleet"),
        ("base:main", "main", "."),
        ("registration:app", "main", "."),
    ]
    assert [a.deployment_target for a in result.assignments] == ["app-web"]


def test_without_an_environment_object_the_branch_has_its_name(planes: Planes) -> None:
    commit_branch(planes.control_plane, {"a.yaml": ""}, branch="plain")
    assert planes.render(environment="plain").assignments == ()
    with pytest.raises(KalypsoError, match="there is no Environment 'nowhere'"):
        planes.render(environment="nowhere")


def test_the_promoted_commit_is_read_not_the_head(planes: Planes) -> None:
    head = planes.commit_main("changed")
    assert planes.rendered()["large/app-web/reconciler.yaml"] == "dev-large-app-web"
    promoted = planes.rendered(base_commit=head)
    assert promoted["large/app-web/reconciler.yaml"] == "changed"
    assert promoted[".github/tracking/Promoted_Commit_Id"] == head


def test_without_a_commit_mains_head_is_read_and_nothing_is_tracked(planes: Planes) -> None:
    planes.commit_main("changed")
    planes.commit_dev()
    tree = planes.rendered()
    assert tree["large/app-web/reconciler.yaml"] == "changed"
    assert ".github/tracking/Promoted_Commit_Id" not in tree


def test_bare_repositories_and_clones(planes: Planes) -> None:
    bare, clone = planes.folder / "bare.git", planes.folder / "clone"
    git(planes.folder, "clone", "-q", "--bare", str(planes.control_plane), str(bare))
    git(planes.folder, "clone", "-q", str(planes.control_plane), str(clone))
    expected = planes.render().assignments
    assert planes.render(control_plane=str(bare)).assignments == expected
    assert planes.render(control_plane=str(clone)).assignments == expected
    assert planes.render(control_plane=bare.as_uri()).assignments == expected


def test_a_given_source_stands_for_a_url(planes: Planes) -> None:
    copy = planes.folder / "copy"
    copy.mkdir()
    (copy / "workload.yaml").write_text(workload(target="copied"))
    result = planes.render(source=[f"{planes.app}={copy}"])
    assert [a.deployment_target for a in result.assignments] == ["app-copied"]
    assert result.sources[2].commit is None


def test_a_given_source_for_one_branch_only(planes: Planes) -> None:
    copy = planes.folder / "copy"
    copy.mkdir()
    given = [f"{planes.app}@other={copy}"]
    assert planes.render(source=given).assignments == planes.render().assignments


def test_an_unreadable_main_ends_the_run(planes: Planes) -> None:
    planes.commit_dev("f" * 40)
    with pytest.raises(KalypsoError, match="f" * 40):
        planes.render(out=planes.folder / "out")
    assert not (planes.folder / "out").exists()


def test_a_broken_document_blocks(planes: Planes) -> None:
    planes.commit_dev(planes.main, **{"fleet/broken.yaml": "kind: [\n"})
    result = planes.render(out=planes.folder / "out")
    assert [p.where.path for p in result.problems if p.where] == ["fleet/broken.yaml"]
    assert not (planes.folder / "out").exists()


def propose(planes: Planes) -> str:
    """Render onto the GitOps repository and commit the result; return the app's commit."""
    options = {"gitops": str(planes.gitops)} if planes.gitops.exists() else {}
    tree = planes.rendered(**options)
    commit_branch(planes.gitops, tree, branch="dev")
    sources = json.loads(tree[".github/tracking/sources.json"])
    return str(sources["registrations"]["app"]["commit"])


def test_the_last_good_commit_replaces_an_unusable_head(planes: Planes) -> None:
    good = propose(planes)
    commit_branch(
        planes.app, {"workload.yaml": workload(target="new"), "evil.yaml": template("t", "x")}
    )
    result = planes.render(gitops=str(planes.gitops))
    assert not result.problems
    assert result.degraded
    assert result.warnings[0].message == ("registration 'app': Template 't' is not a Workload")
    assert [a.deployment_target for a in result.assignments] == ["app-web"]
    assert result.sources[2].commit == good
    assert (result.changes.added, result.changes.modified, result.changes.deleted) == ((), (), ())


def test_a_repaired_head_is_used_again(planes: Planes) -> None:
    propose(planes)
    commit_branch(planes.app, {"workload.yaml": "kind: ["})
    assert propose(planes) == propose(planes)
    commit_branch(planes.app, {"workload.yaml": workload(target="new")})
    result = planes.render(gitops=str(planes.gitops))
    assert not result.degraded
    assert [a.deployment_target for a in result.assignments] == ["app-new"]


def test_a_commit_that_is_gone_leaves_the_targets_as_they_are(planes: Planes) -> None:
    good = propose(planes)
    planes.app.rename(planes.folder / "moved")
    result = planes.render(gitops=str(planes.gitops))
    assert result.degraded
    assert result.assignments == ()
    assert result.changes.deleted == ()
    assert propose(planes) == good


def test_two_registrations_that_deliver_one_name(planes: Planes) -> None:
    rival = planes.folder / "rival"
    commit_branch(rival, {"workload.yaml": workload()})
    main = planes.commit_main(
        **{
            "rival.yaml": document(
                "WorkloadRegistration",
                "rival",
                f"{{workload: {{repo: '{rival}', branch: main, path: .}}, workspace: other}}",
            )
        }
    )
    result = planes.render(base_commit=main)
    assert result.assignments == ()
    assert [w.message for w in result.warnings] == [
        "registration 'app': Workload 'app' is also delivered by registration 'rival' "
        f"({planes.control_plane}: rival.yaml:4) in {rival}: workload.yaml:1",
        "registration 'rival': Workload 'app' is also delivered by registration 'app' "
        f"({planes.control_plane}: registration.yaml:4) in {planes.app}: workload.yaml:1",
    ]


def test_a_base_repo_with_a_fault_is_not_missing(planes: Planes) -> None:
    faulty = document("BaseRepo", "main", "{repo: r, brunch: main, path: .}")
    planes.commit_dev(**{"fleet/base-repo.yaml": faulty})
    result = planes.render()
    assert [p.message for p in result.problems] == ["BaseRepo 'main': spec.branch is missing"]
    assert [w.message for w in result.warnings] == ["BaseRepo 'main': unknown field spec.brunch"]


def test_without_a_base_repo_nothing_comes_from_main(planes: Planes) -> None:
    planes.commit_dev(**{"fleet/base-repo.yaml": "# none\n"})
    (problem,) = planes.render().problems
    assert problem.message.startswith("the branch of environment 'dev' has no BaseRepo")


def test_all_unreadable_base_repos_are_reported(planes: Planes) -> None:
    lost = "".join(
        document("BaseRepo", name, f"{{repo: 'file:///nowhere/{name}', branch: main, path: .}}")
        for name in ("first", "second")
    )
    planes.commit_dev(planes.main, **{"fleet/lost.yaml": lost})
    with pytest.raises(KalypsoError) as caught:
        planes.render()
    first, second = caught.value.problems
    assert first.message.startswith("BaseRepo 'first': file:///nowhere/first: the branch 'main'")
    assert [str(problem.where).rpartition(" ")[2] for problem in (first, second)] == [
        "fleet/lost.yaml:4",
        "fleet/lost.yaml:9",
    ]


def test_a_registration_of_a_missing_repository_is_reported_at_its_line(planes: Planes) -> None:
    planes.app.rename(planes.folder / "moved")
    (warning,) = planes.render().warnings
    missing = "the application of WorkloadRegistration 'app' is missing from the fleet"
    assert warning.message.startswith(f"{missing}: {planes.app}: there is no such folder")
    assert warning.where is not None
    assert (warning.where.path, warning.where.line) == ("registration.yaml", 4)


def test_the_branch_of_the_gitops_repository(planes: Planes) -> None:
    commit_branch(planes.gitops, {"large/README.md": "of main"}, branch="main")
    commit_branch(planes.gitops, {"large/README.md": "of dev"}, branch="dev")
    repo = document("GitOpsRepo", "dev", f"{{repo: '{planes.gitops}', branch: dev, path: .}}")
    planes.commit_dev(planes.main, **{"fleet/gitops-repo.yaml": repo})
    assert planes.render(gitops=str(planes.gitops)).changes.modified == ("large/README.md",)
    git(planes.gitops, "branch", "-D", "main")
    assert planes.render(gitops=f"{planes.gitops}@dev").changes.modified == ("large/README.md",)


@pytest.mark.parametrize(
    ("repo", "message"),
    [
        ("", "no repository is named"),
        ("x" * 999, "File name too long"),
        ("-upload-pack=x", "there is no such folder"),
        ("ext::sh -c id", "this is not the URL of a repository"),
    ],
)
def test_a_registration_that_names_no_repository_stops_nothing(
    planes: Planes, repo: str, message: str
) -> None:
    odd = f"{{workload: {{repo: '{repo}', branch: main, path: .}}}}"
    main = planes.commit_main(**{"odd.yaml": document("WorkloadRegistration", "odd", odd)})
    result = planes.render(base_commit=main)
    assert [a.deployment_target for a in result.assignments] == ["app-web"]
    assert message in result.warnings[0].message


def test_a_given_folder_that_the_system_hides_stops_nothing(
    planes: Planes, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = planes.folder / "hidden"
    hidden.mkdir()

    def refuse(path: Path) -> bool:
        if path == hidden:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return is_repository(path)

    monkeypatch.setattr(repositories, "is_repository", refuse)
    result = planes.render(source=[f"{planes.app}={hidden}"])
    assert result.degraded
    assert "cannot be read: Permission denied" in result.warnings[0].message


def test_of_several_paths_the_branch_chooses(planes: Planes) -> None:
    repos = "".join(
        document(
            "GitOpsRepo", name, f"{{repo: 'https://git.test/g', branch: {name}, path: {path}}}"
        )
        for name, path in (("dev", "."), ("dev-eu", "./eu/"))
    )
    planes.commit_dev(planes.main, **{"fleet/gitops-repo.yaml": repos})
    for given in ({}, {"gitops": f"{planes.app}"}):
        with pytest.raises(KalypsoError, match="different paths, and no branch is named"):
            planes.render(**given)
    with pytest.raises(KalypsoError, match="the branch 'main' does not select one"):
        planes.render(gitops=f"{planes.app}@main")
    folder = planes.folder / "plain"
    folder.mkdir()
    assert "eu/large/README.md" in planes.rendered(gitops=f"{folder}@dev-eu")
    assert "large/README.md" in planes.rendered(gitops=f"{folder}@dev")


def test_kept_files_of_the_gitops_repository_reach_the_output(planes: Planes) -> None:
    commit_branch(
        planes.gitops, {"NOTICE": "ours\n", ".github/workflows/x.yaml": "a: b\n"}, branch="dev"
    )
    (planes.gitops / "run.sh").write_text("x")
    (planes.gitops / "run.sh").chmod(0o755)
    git(planes.gitops, "add", "-A")
    git(planes.gitops, "commit", "-qm", "script")
    out = planes.folder / "out"
    planes.render(gitops=str(planes.gitops), out=out)
    assert (out / "NOTICE").read_text() == "ours\n"
    assert (out / ".github/workflows/x.yaml").is_file()
    assert (out / "run.sh").stat().st_mode & 0o111
