"""Files, YAML and kustomizations."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "source-ignored",
        "warning",
        "A `--source` has no effect: PATH does not exist, nothing names URL, or the edits in a "
        "repository are not committed.",
        """\
kalypso validate --source https://github.com/contoso/board=../boards
""",
        "Write URL as in the WorkloadRegistration, and commit the edits; a folder without `.git` "
        "is read as it is.",
    ),
    ProblemCode(
        "path-outside-repository",
        "error",
        "A path of a document, of a kustomization or of a symbolic link leads out of its "
        "repository.",
        """\
spec:
  path: ../other
""",
        "Write a path inside the repository. Remove the symbolic link, or exclude it by "
        "`.sourceignore`.",
    ),
    ProblemCode(
        "folder-missing",
        "error",
        "The `path` of a repository names no folder on that branch. Upper and lower case matter.",
        """\
spec:
  workload:
    repo: https://github.com/contoso/boards
    branch: main
    path: ./workloads   # the folder is named workload
""",
        "Correct the path or the branch.",
    ),
    ProblemCode(
        "kustomization-invalid",
        "error",
        "kustomize, which Flux runs for this folder, would refuse this `kustomization.yaml`.",
        """\
kind: Kustomization
resources: policies.yaml   # not a list
""",
        "Correct the file; the message names the fault.",
    ),
    ProblemCode(
        "kustomization-resource-missing",
        "error",
        "A kustomization lists a file or folder that this repository does not have.",
        """\
resources:
  - polices.yaml
""",
        "Correct the path, or add the file. Copy remote resources into the repository.",
    ),
    ProblemCode(
        "kustomize-missing",
        "error",
        "A kustomization patches or generates objects, which only the kustomize program can do.",
        """\
resources: [policies.yaml]
patches:
  - path: patch.yaml
""",
        "Install kustomize, or list complete resources only.",
    ),
    ProblemCode(
        "kustomize-failed",
        "error",
        "The kustomize program refused the folder. The message is its own.",
        """\
resources: [policies.yaml]
patches:
  - path: patch.yaml   # patches an object that no resource has
""",
        "Run `kustomize build` in the folder, and correct what it reports.",
    ),
    ProblemCode(
        "kustomization-misplaced",
        "warning",
        "A Kustomization has an effect only in a file named `kustomization.yaml`.",
        """\
# in the file base.yaml
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
""",
        "Rename the file, or remove it.",
    ),
    ProblemCode(
        "symlink-ignored",
        "warning",
        "Flux does not follow symbolic links, so their documents are not applied.",
        "shared -> ../main/config",
        "Replace the link with the files.",
    ),
    ProblemCode(
        "file-misnamed",
        "warning",
        "A file looks like YAML, or a JSON file has documents of Kalypso, but neither Flux nor "
        "Kalypso reads it, because of its name.",
        """\
policies.YAML
templates.yaml.txt
policies.json
""",
        "Rename it to end with `.yaml` or `.yml`; YAML may contain JSON.",
    ),
    ProblemCode(
        "ignore-file-too-complex",
        "error",
        "A `.sourceignore` file has too many, too long or too complex patterns.",
        "a*b*c*d*e*f*g*h*   # and thousands more",
        "Exclude whole folders, with fewer wildcards.",
    ),
    ProblemCode(
        "registration-too-large",
        "error",
        "A registered folder has far more files, text, values or exclusions than Workloads need. "
        "Each path counts, even if several have the same content, and so does each alias of YAML. "
        "Or its texts take far more work to validate and render than usual ones, or it delivers "
        "more targets to an environment than `max-targets` allows.",
        """\
spec:
  workload:
    repo: https://github.com/contoso/everything
    branch: main
    path: .   # with 3,000 YAML files
""",
        "Register the folder of the Workloads only, or exclude files by `.sourceignore`. Deliver "
        "shorter texts, divide the registration, or raise `max-targets`. The registration's last "
        "good commit applies meanwhile.",
    ),
    ProblemCode(
        "ignore-pattern-invalid",
        "warning",
        "A line of `.sourceignore` is not a pattern of gitignore and excludes nothing.",
        "!",
        "Correct the line: see git's documentation of `.gitignore`.",
    ),
    ProblemCode(
        "file-not-utf-8",
        "error",
        "A YAML file is not encoded in UTF-8.",
        "name: M\\xfcnchen",
        "Save the file as UTF-8.",
    ),
    ProblemCode(
        "file-too-large",
        "error",
        "A YAML file exceeds the size limit.",
        "# a file of 20 MiB",
        "Split the file, or exclude it by `.sourceignore`.",
    ),
    ProblemCode(
        "yaml-invalid",
        "error",
        "The text is not YAML. The documents after this place are not read.",
        """\
metadata:
  name: dev
   labels: {}
""",
        "Correct the text at this place. Indent YAML with spaces, never with tabs.",
    ),
    ProblemCode(
        "yaml-key-not-text",
        "error",
        "A key is a number, a boolean or null in YAML. Kubernetes accepts only texts as keys.",
        """\
labels:
  on: edge
""",
        "Write the key in quotes.",
    ),
    ProblemCode(
        "yaml-key-duplicate",
        "warning",
        "A mapping has the same key twice. The last value counts.",
        """\
labels:
  size: large
  size: small
""",
        "Remove one of them.",
    ),
)
