"""GitOps repositories."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "gitops-repo-missing",
        "error",
        "The environment branch has no GitOpsRepo: nobody knows where its manifests belong.",
        """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: dev
spec:
  repo: https://github.com/contoso/gitops
  branch: dev
  path: .
""",
        "Add the file that the advice shows.",
    ),
    ProblemCode(
        "gitops-repo-duplicate",
        "error",
        "Two GitOpsRepos of an environment name the same folder of the same branch.",
        """\
kind: GitOpsRepo
spec:
  branch: dev   # as another GitOpsRepo
""",
        "Remove one of the two.",
    ),
    ProblemCode(
        "gitops-branch-unreadable",
        "error",
        "The branch that a GitOpsRepo names cannot be read, or does not exist.",
        """\
kind: GitOpsRepo
spec:
  repo: https://github.com/contoso/gitops
  branch: develop
""",
        "Correct the GitOpsRepo, create the branch, or give access to the repository.",
    ),
    ProblemCode(
        "gitops-path-misplaced",
        "error",
        "The GitOpsRepo names a path, but the tree of upstream's operator is at the root.",
        """\
kind: GitOpsRepo
spec:
  path: ./clusters
""",
        "Move the folders below the path, or set the path to `.`.",
    ),
    ProblemCode(
        "gitops-path-blocked",
        "error",
        "A file of the GitOps repository is where a folder is needed, or the other way round.",
        """\
# a file named like the cluster type large
large
""",
        "Remove or rename it.",
    ),
    ProblemCode(
        "gitops-file-foreign",
        "warning",
        "The GitOps repository has a file or folder that Kalypso did not write. Kalypso keeps it.",
        "large/hello-world/notes.txt",
        "Remove it if nobody wants it.",
    ),
    ProblemCode(
        "mass-removal",
        "warning",
        "A run would remove a large share of all assignments, or of an application's targets, at "
        "once. `kalypso app render` refuses it unless `allow-removals` is set.",
        "# on main: the folder with all registrations was deleted",
        "Check the cause. If the removal is intended, set `allow-removals`, merge by hand, or raise"
        " `max-removal-percent`.",
    ),
    ProblemCode(
        "gitops-repo-shared",
        "warning",
        "Two environments write their manifests to the same branch and path: each deletes the "
        "other's files.",
        """\
# on the branch dev, and on the branch stage
kind: GitOpsRepo
spec:
  repo: https://github.com/contoso/gitops
  branch: stage
  path: .
""",
        "Give each environment a branch or path of its own. A GitOpsRepo on main belongs to every "
        "environment.",
    ),
    ProblemCode(
        "gitops-repo-in-control-plane",
        "warning",
        "A GitOpsRepo names the branch of an environment in the control plane, where manifests "
        "would be among the environment's objects.",
        """\
kind: GitOpsRepo
spec:
  repo: https://github.com/contoso/control-plane
  branch: dev
""",
        "Name the GitOps repository.",
    ),
)
