"""All commands, with their modules and summaries.

Each step of a job waits for its imports, so a command's module is imported only when it is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import typer
import typer.main
from typer.core import TyperCommand

from kalypso_actions.cli.process import import_command
from kalypso_actions.commands.registry import ACTIONS, APPLICATION, CHAIN

HELP: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""The settings of the app and of each command."""


class PlainCommand(TyperCommand):
    """A command that reports wrong values without pydantic's prefix."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as Typer does; remove the prefix that pydantic puts before its errors."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command that is not imported yet, with its help.

    `module` is a module of this package with a class like `CheckPagesCommand`. `details` follow the
    `summary`, and `examples` end the help. `failure` is the meaning of exit code 1. A `hidden`
    command is only for jobs.
    """

    module: str
    summary: str
    details: str = ""
    examples: tuple[str, ...] = ()
    failure: str = "problems"
    hidden: bool = False


OF_JOBS_ALONE: Final = frozenset({"set-up", "validate-workload"})
"""Commands of actions without options: functions, not classes."""

_PLANE: Final = "--control-plane acme/control-plane"
_APP_RENDER: Final = "kalypso app render --environment dev --source . --configs ../shop-configs"

COMMANDS: Final = {
    "init": LazyCommand(
        "init",
        "Set up two repositories, empty or not, as a control plane and its GitOps repository.",
        """\
Writes the workflows, the environments and their branches. An empty control
plane also gets first templates and a sample workload. Shows the changes
before it writes, and leaves people's files alone: in an existing control
plane, it changes only workflow files. With --environments, it adds the
environments that are new there, and lets the one before name them as next.
It can run again at any time. At the end, it lists the tasks that are left to
you.

On GitHub, it uses the token in KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN; for
GitHub Enterprise Server, set GITHUB_SERVER_URL and GITHUB_API_URL.
""",
        examples=(
            f"kalypso init {_PLANE} --gitops acme/gitops --dry-run",
            "kalypso init --control-plane-dir ../control-plane --gitops-dir ../gitops",
        ),
        failure="a problem, or no consent",
    ),
    "doctor": LazyCommand(
        "github_commands",
        "Check the set-up of a control plane and its GitOps repositories.",
        """\
Checks branches, workflow files, names of secrets and variables, permissions
of the GitHub App, rules of branches, approvals, registrations, rendering, and
the answers of Azure. Writes nothing without --probe. The token (KALYPSO_TOKEN,
GH_TOKEN or GITHUB_TOKEN) must be one that can read the repositories' settings.
With KALYPSO_APP_ID and KALYPSO_APP_PRIVATE_KEY, the App is checked, too, and
the probe uses it. In a clone of the control plane, --control-plane is not
needed.
""",
        examples=(f"kalypso doctor {_PLANE}",),
    ),
    "render": LazyCommand(
        "local_commands",
        "Compute the GitOps tree of one environment.",
        examples=(
            "kalypso render dev",
            "kalypso render dev --gitops ../gitops@dev --out tree",
            "kalypso render dev --base-commit main --diff",
        ),
        failure="problems, with --strict warnings, or with --exit-code a difference",
    ),
    "diff": LazyCommand(
        "local_commands",
        "Compare two environments, or two commits of one environment.",
        examples=(
            "kalypso diff dev stage",
            "kalypso diff dev stage --deployed --stat",
            "kalypso diff dev --deployed",
            "kalypso diff stage --to main --exit-code",
        ),
        failure="new problems, or with --exit-code a difference",
    ),
    "explain": LazyCommand(
        "local_commands",
        "Explain an environment: who selects a pair, who set a value, what made a file.",
        examples=(
            "kalypso explain dev --target hello-world --cluster-type edge",
            "kalypso explain stage --key DATABASE_URL",
            "kalypso explain dev --file large/hello-world/reconciler.yaml",
        ),
    ),
    "validate": LazyCommand(
        "local_commands",
        "Check all documents of branches: schemas, references, templates, names.",
        examples=(
            "kalypso validate",
            f"kalypso validate {_PLANE}",
            "kalypso validate --source https://github.com/acme/shop=../shop",
            "kalypso validate --workload .",
        ),
        failure="problems, or with --strict warnings",
    ),
    "validate-workload": LazyCommand(
        "local_commands",
        "Check the Workloads in the checkout of a job: the action of this name.",
        hidden=True,
    ),
    "template": LazyCommand(
        "offline_commands",
        "Render one Template with given data, for its author.",
        """\
The data have the names that templates use. The defaults are:

\b
Environment            dev
Workspace              team
Workload               app
ClusterType            large
DeploymentTargetName   <Workload>-target
Namespace              <Environment>-<ClusterType>-<DeploymentTargetName>
Labels                 workload and workspace
Manifests, ConfigData  empty

A string in ConfigData is read like a value of a ConfigMap; lists and
objects are also possible.
""",
        examples=("kalypso template templates/flux.yaml --values values.yaml",),
    ),
    "status": LazyCommand(
        "github_commands",
        "Show the pipeline: what each environment has, its state, and what waits for whom.",
        """\
From GitHub's statuses, branches, pull requests and issues; --clusters also
asks the cluster reports. Holds and freezes are among the waits, with who holds
and why. The token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN)
needs contents, statuses, pull requests and issues: read; actions: read shows
started rollbacks. In a clone of the control plane, --control-plane is not
needed.
""",
        examples=(
            "kalypso status",
            f"kalypso status {_PLANE} --watch",
            "kalypso status --environment stage --clusters --json",
        ),
    ),
    "history": LazyCommand(
        "github_commands",
        "Show what an environment, a target or a cluster has had, and what became of it.",
        """\
Of an environment, the commits of main, from the history of base-repo.yaml on
its branch and GitHub's statuses; with a record, also the numbers of clusters.
Of a target or a cluster, the periods in the record: with one in a folder, no
token is needed. Else the token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN) needs
contents and statuses: read. In a clone of the control plane, --control-plane
is not needed.
""",
        examples=(
            "kalypso history prod",
            "kalypso history hello-world --record ../record",
            f"kalypso history stage {_PLANE} --since 2026-11-01T00:00:00Z --json",
        ),
    ),
    "clusters": LazyCommand(
        "github_commands",
        "Show which clusters are expected, and what each source reports of them.",
        """\
Asks the sources of cluster reports about the head of each GitOps branch, as
check-promote does, and writes nothing: the way to try a source on your own
fleet. A source that cannot be read is a problem, and the others are shown all
the same. In a clone of the control plane, --control-plane is not needed.
""",
        examples=(
            "kalypso clusters",
            f"kalypso clusters {_PLANE} --environment dev --cluster-reports commit-statuses"
            " --status-authors 'fleet-flux[bot]'",
            "kalypso clusters --cluster-reports argocd --argocd-servers https://argocd.acme.example"
            " --json",
        ),
        failure="problems of environments or sources",
    ),
    "where": LazyCommand(
        "github_commands",
        "Show which clusters have a workload, a version or a commit, since when.",
        """\
Reads the record that kalypso observe writes, at its newest look or at an
earlier time. NAME is a workload, a target, a version, a commit of main, of a
source or of a GitOps branch, a cluster, a cluster type or an environment.
With a record in a folder, no token is needed.

"since" is when the state began. In JSON, "relation" compares a cluster with
its branch: "current" runs the newest content, "behind" an older one, "off"
content that the branch does not have; "status" is what the cluster reports.
"kalypso drift" names targets that no cluster has.
""",
        examples=(
            f"kalypso where hello-world {_PLANE}",
            "kalypso where 0.4.2 --record ../record --at 2d",
        ),
    ),
    "drift": LazyCommand(
        "github_commands",
        "Show what is not as wanted: clusters, branches and proposals, the worst first.",
        """\
Reads the record that kalypso observe writes, at its newest look or at an
earlier time: clusters that fail, are behind or run a content that their
branch does not have, edits by hand, open proposals, targets without a
cluster, looks that are too old. With a record in a folder, no token is needed.

\b
The kinds, the worst first:
  failing          the cluster reports a failure
  off              it runs a content that its branch does not have
  unreachable      it no longer reports
  stale            nothing has looked at the environment: --stale-after
  edited-by-hand   manifests of a GitOps branch come from no pull request
  behind           a newer content has been merged
  suspended        the reconciler is suspended
  no-cluster       no cluster has the target
  unknown          the commit that the cluster reports cannot be read
  proposal-open    a pull request waits

With --fail-on, a record without any look by then fails, too.
""",
        examples=(
            f"kalypso drift {_PLANE}",
            "kalypso drift --record ../record --fail-on failing,off",
        ),
        failure="differences of the kinds that --fail-on names",
    ),
    "delivery": LazyCommand(
        "github_commands",
        "Show how well changes reach clusters: lead time, frequency, failures, recovery, waits.",
        """\
Reads the record that kalypso observe, check-promote and poll write. The
figures follow the definitions of DORA; each has the number of its cases, and
what is not known is never zero. With a record in a folder, no token is needed.

\b
  deployment     a merge to a GitOps branch that a cluster reached
    promotion      it brings another commit of main, or of a source
    configuration  the same commit with other content
    correction     the same commit, after a failure
    rollback       a commit that was there before
  lead time      from the commit on main until it is deployed
  failed commits       commits of main with which clusters failed
  failed deployments   deployments with which a cluster failed, for a moment
  recovery       from the first failure until the clusters are well again
  waited for     people (a review or merge), clusters (to comply), another
                 environment (to have deployed it first), runs (of workflows)
""",
        examples=(
            f"kalypso delivery {_PLANE} --since 30d",
            "kalypso delivery --record ../record --commit 9c20a84",
        ),
    ),
    "report": LazyCommand(
        "local_commands",
        "Write one self-contained page about the whole fleet, and its data.",
        examples=(
            "kalypso report --out fleet-report",
            "kalypso report --control-plane https://github.com/acme/control-plane --out report",
        ),
    ),
    "check-pages": LazyCommand(
        "github_commands",
        "Stop a job before it publishes a report to people who may not see all of it.",
        """\
Asks GitHub who may read the site of GitHub Pages, the control plane, and
each repository that the report shows. What GitHub does not tell counts as
the worst case. The token needs pages: read, and nothing for public
repositories.
""",
        hidden=True,
    ),
    "schemas": LazyCommand(
        "offline_commands",
        "Write JSON Schemas of all kinds, for editors to complete and check documents.",
        examples=("kalypso schemas --out .schemas",),
    ),
    "hold": LazyCommand(
        "github_commands",
        "Let nothing enter an environment, for a reason that everybody reads.",
        """\
Writes the hold, with your login, into .github/kalypso/promotion.yaml on the
environment's branch, by a commit or with --mode pull-request. The token
(KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN) must be yours, with contents: write,
and pull requests: write for that mode.
""",
        examples=(
            "kalypso hold stage --reason incident-4711",
            f"kalypso hold prod {_PLANE} --reason audit --until 2026-12-01T12:00:00Z --at 4c1f0d2",
        ),
    ),
    "release": LazyCommand(
        "github_commands",
        "Take away your holds of an environment, or with --by or --all those of others.",
        """\
`kalypso status` shows who holds an environment, and what waits for the holds. The
token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN) must be yours, as for `kalypso hold`.
""",
        examples=("kalypso release stage", f"kalypso release prod {_PLANE} --by octocat"),
    ),
    "app": LazyCommand("app", "The commands for an application team's repositories."),
    "hub": LazyCommand("app", "The record of kalypso observe in a database, and behind an API."),
    "sandbox": LazyCommand(
        "offline_commands",
        "Serve GitHub and Azure Resource Graph on this machine, for trials and tests.",
        examples=("kalypso sandbox --dir trial --repository acme/control-plane",),
    ),
    "demo": LazyCommand(
        "offline_commands",
        "Run the whole promotion chain for a sample organisation, on this machine alone.",
        examples=(
            "kalypso demo",
            "kalypso demo --cluster-reports commit-statuses",
            "kalypso demo --application",
        ),
    ),
    **{
        command.name: LazyCommand(
            {"preview": "local_commands", "rollback": "github_commands"}.get(
                command.name, "runtime"
            ),
            command.summary,
            examples=command.examples,
            failure=command.failure,
            hidden=command.name == "preview-comment",
        )
        for command in CHAIN
    },
    "set-up": LazyCommand(
        "set_up",
        "Put kalypso on the PATH of a job's next steps, and run one command line.",
        hidden=True,
    ),
}
"""Commands by name, in the order of `--help`."""

GROUPS: Final = {
    "Begin": ("init", "doctor", "demo", "sandbox", "schemas", "help"),
    "Before the merge": ("validate", "render", "diff", "template", "preview", "app"),
    "Ask": (
        *("explain", "status", "clusters", "where", "drift", "history", "delivery", "report"),
        "hub",
    ),
    "Hold and go back": ("hold", "release", "rollback"),
    "Run by workflows": tuple(
        command.name for command in CHAIN if command.name not in {"preview", "rollback"}
    ),
}
"""The commands by the occasion on which people need them; plug-ins are a group of their own."""

APP_COMMANDS: Final = {
    "app init": LazyCommand(
        "init",
        "Set up three repositories, empty or not, as an application's source, configs and GitOps.",
        """\
Writes the workflows, the order of environments and their branches. An empty
source also gets a sample chart and Workload. In upstream's set-up, it replaces
upstream's workflows, except the one that builds the image. Shows the changes
before it writes, and leaves people's files alone. It can run again at any time.
At the end, it lists the tasks that are left to you.

It uses the token in KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN.
""",
        examples=("kalypso app init --source-repository acme/shop --dry-run",),
        failure="a problem, or no consent",
    ),
    "app register": LazyCommand(
        "init",
        "Print the registration of an application for the control plane.",
        examples=(
            "kalypso app register --source-repository acme/shop --workspace shop-team "
            "--control-plane acme/control-plane",
        ),
    ),
    "app render": LazyCommand(
        "local_commands",
        "Compute the GitOps tree of an application for one environment.",
        examples=(
            f"{_APP_RENDER} --version local --image-tag local --out tree",
            f"{_APP_RENDER} --gitops ../shop-gitops@dev --out tree",
        ),
    ),
    "app status": LazyCommand(
        "github_commands",
        "Show what each environment of an application has, since when, and what waits for whom.",
        """\
From the branches of the GitOps repository, and GitHub's statuses and pull
requests. The token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN) needs contents,
statuses and pull requests: read. In a clone of the source, --source-repository
is not needed.
""",
        examples=(
            "kalypso app status --configs-repository acme/shop-configs "
            "--gitops-repository acme/shop-gitops",
        ),
    ),
    **{
        command.words: LazyCommand(
            "runtime", command.summary, examples=command.examples, failure=command.failure
        )
        for command in APPLICATION
    },
}
"""The commands of the group `kalypso app`."""

HUB_COMMANDS: Final = {
    "hub file": LazyCommand(
        "github_commands",
        "Load the record into a SQLite file, as far as it is not yet there.",
        examples=(
            f"kalypso hub file {_PLANE} --out hub.sqlite",
            "kalypso hub file --record ../record --out hub.sqlite",
        ),
    ),
    "hub load": LazyCommand(
        "github_commands",
        "Load the record into PostgreSQL, as far as it is not yet there.",
        """\
Fills the tables, and the views that dashboards read, in one transaction:
readers see the old state or the new one. A record that was rewritten, and
tables of another version, are loaded anew. Needs the extra `hub`. The password
is the variable KALYPSO_DATABASE_PASSWORD, never an option. A server on another
machine is verified (sslmode=verify-full).
""",
        examples=(
            f"kalypso hub load {_PLANE} --grant-to grafana"
            " --database-url postgresql://kalypso@db.acme.example/hub",
            "kalypso hub load --record ../record --database-url postgresql:///hub",
        ),
    ),
    "hub serve": LazyCommand(
        "github_commands",
        "Answer questions about the record over HTTP, read-only.",
        """\
Serves /v1/state, history, drift, delivery and rollouts, POST /deployment_state,
/metrics for Prometheus and /healthz, from the record, or from a database that
hub load fills. Needs the extra `hub-serve`. Without the variable
KALYPSO_API_TOKEN, only this machine is served.
""",
        examples=(
            "kalypso hub serve --record ../record",
            "kalypso hub serve --database-url postgresql:///hub --listen 0.0.0.0:8080",
        ),
    ),
}
"""The commands of the group `kalypso hub`."""

GROUP_COMMANDS: Final = {"app": APP_COMMANDS, "hub": HUB_COMMANDS}
"""The commands of each group, by its word."""

ALL_COMMANDS: Final = COMMANDS | APP_COMMANDS | HUB_COMMANDS


def load(words: str) -> Any:
    """Import a command or a group of commands, and return it in Typer's form."""
    command = ALL_COMMANDS[words]
    module = import_command(f"kalypso_actions.cli.{command.module}")
    if words in GROUP_COMMANDS:
        return module.command_group(words)
    end = help_end(command.examples, command.failure)
    if words in OF_JOBS_ALONE:
        return in_typer_form(words, getattr(module, words.replace("-", "_")), end)
    # The parsers of options need imports that the list of commands does not.
    from kalypso_actions.cli.command import function_of  # noqa: PLC0415

    if command.module == "runtime":
        chain = ACTIONS[words.replace(" ", "-")]

        def run(given: dict[str, Any]) -> None:
            raise typer.Exit(module.run_in_job(chain, given))

        function = function_of(chain.model, run)
    else:
        kind = getattr(module, re.sub("[ -]", "", words.title()) + "Command")
        function = function_of(kind.model, kind())
    function.__doc__ = f"{command.summary}\n\n{command.details}"
    return in_typer_form(words, function, end)


def in_typer_form(words: str, function: Callable[..., None], end: str) -> Any:
    """Return a command in Typer's form; `end` is the end of its help."""
    app = typer.Typer(add_completion=False, context_settings=HELP, rich_markup_mode=None)
    name = words.rpartition(" ")[2]
    app.command(name, cls=PlainCommand, epilog=end)(function)
    return typer.main.get_command(app)


def help_end(examples: tuple[str, ...] = (), failure: str = "problems") -> str:
    """Return the lines below a command's options."""
    heading = ["Example:" if len(examples) == 1 else "Examples:"] if examples else []
    codes = f"Exit codes: 0 done, 1 {failure}, 2 wrong options or inputs."
    return "\n\n".join(["\n".join(["\b", *heading, *examples]), codes] if examples else [codes])
