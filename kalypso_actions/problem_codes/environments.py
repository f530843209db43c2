"""Environments, BaseRepos and promotion."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "scheduler-unknown",
        "error",
        "An Environment names a scheduler that is not installed.",
        """\
kind: Environment
metadata:
  annotations:
    kalypso.io/scheduler: placment   # placement
""",
        "Write labels or placement, or install the plugin that has this scheduler.",
    ),
    ProblemCode(
        "environment-missing",
        "error",
        "Main has no Environment object, so no commit can be promoted.",
        """\
# no file of main has this kind
kind: Environment
""",
        "Add one for each environment, with its branch.",
    ),
    ProblemCode(
        "environment-undeclared",
        "error",
        "A branch belongs to an environment, but no Environment object of main names it.",
        """\
# main has no Environment with this branch
kind: Environment
metadata:
  name: dev
spec:
  controlPlane:
    repo: https://github.com/contoso/control-plane
    branch: dev
    path: .
""",
        "Add the Environment that the advice shows to main, or name the right branch.",
    ),
    ProblemCode(
        "environment-on-main",
        "error",
        "An Environment names main as its own branch. Commits are promoted from main to other "
        "branches.",
        """\
kind: Environment
spec:
  controlPlane:
    branch: main
""",
        "Give the environment a branch of its own.",
    ),
    ProblemCode(
        "environment-branch-shared",
        "warning",
        "Two Environments have the same branch and path, so one of them is never scheduled by "
        "itself.",
        """\
# the Environments dev and stage
spec:
  controlPlane:
    branch: stage
""",
        "Give each environment a branch of its own.",
    ),
    ProblemCode(
        "environment-branch-missing",
        "warning",
        "The clone lacks the branch of an Environment, but has one with a similar name.",
        """\
kind: Environment
spec:
  controlPlane:
    branch: dve
""",
        "Correct the branch.",
    ),
    ProblemCode(
        "environment-circle",
        "error",
        "Environments name each other as next in a circle, so a promotion never ends.",
        """\
# dev names stage, and stage names dev
annotations:
  kalypso.io/next-environment: dev
""",
        "Remove one of the names.",
    ),
    ProblemCode(
        "environment-unreached",
        "note",
        "No other Environment names this one as next.",
        """\
# on the Environment before stage
annotations:
  kalypso.io/next-environment: stage
""",
        "Annotate the environment before it, unless a variable NEXT_ENVIRONMENT names it.",
    ),
    ProblemCode(
        "first-environment-ambiguous",
        "error",
        "New commits of main may begin in several environments.",
        """\
annotations:
  kalypso.io/first-environment: "true"
""",
        "Annotate the first one.",
    ),
    ProblemCode(
        "environment-unjudged",
        "warning",
        "The branch of another environment has a problem, so the checks across all environments "
        "leave it out.",
        """\
# on the branch stage
kind: ClusterType
metadata:
\tname: depot   # a tab
""",
        "Correct the problem that the message names.",
    ),
    ProblemCode(
        "next-environment-unknown",
        "error",
        "An Environment names a next environment that does not exist.",
        """\
annotations:
  kalypso.io/next-environment: stge
""",
        "Correct the name.",
    ),
    ProblemCode(
        "base-repo-missing",
        "error",
        "The environment branch has no BaseRepo named `main`: it takes nothing over from main.",
        """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: base   # must be main
""",
        "Add `base-repo.yaml`, or rename the BaseRepo. `cd` writes the file when it promotes "
        "the first commit.",
    ),
    ProblemCode(
        "base-commit-missing",
        "note",
        "The BaseRepo of an environment has no commit: nothing has been promoted to it, and it "
        "takes the newest commit of main.",
        """\
kind: BaseRepo
metadata:
  name: main
spec:
  repo: https://github.com/contoso/control-plane
  branch: main
  path: .
""",
        "Promote a commit: `cd` writes it into the file.",
    ),
    ProblemCode(
        "base-commit-absent",
        "warning",
        "`base-repo.yaml` names a commit of main that the current clone lacks.",
        """\
kind: BaseRepo
metadata:
  name: main
spec:
  commit: 0123456789abcdef0123456789abcdef01234567   # git log does not know it
""",
        "Run `git fetch`. If main never had the commit, write one that it has.",
    ),
    ProblemCode(
        "base-repo-foreign",
        "warning",
        "The BaseRepo `main` of an environment names another repository or branch than the main of "
        "its control plane, from which commits are promoted.",
        """\
kind: BaseRepo
metadata:
  name: main
spec:
  repo: https://github.com/contoso/contol-plane
""",
        "Write the repository and branch of main.",
    ),
    ProblemCode(
        "base-repo-nested",
        "warning",
        "A base repository has a BaseRepo of its own. Kalypso does not read bases of bases.",
        """\
# on main
kind: BaseRepo
""",
        "Remove it from there.",
    ),
    ProblemCode(
        "base-repo-unreadable",
        "error",
        "The repository, branch or commit of a BaseRepo cannot be read.",
        """\
kind: BaseRepo
spec:
  repo: https://github.com/contoso/contol-plane
""",
        "Correct the BaseRepo, or give access to its repository.",
    ),
    ProblemCode(
        "base-repo-not-writable",
        "error",
        "The form of `base-repo.yaml` does not allow a change of the commit alone.",
        "spec: &base {repo: https://github.com/contoso/control-plane, branch: main, path: .}",
        "Write the BaseRepo in plain form.",
    ),
    ProblemCode(
        "registration-named-as-base",
        "warning",
        "A WorkloadRegistration has the name of a BaseRepo. Upstream's operator cannot fetch both.",
        """\
kind: WorkloadRegistration
metadata:
  name: main
""",
        "Rename the registration.",
    ),
)
