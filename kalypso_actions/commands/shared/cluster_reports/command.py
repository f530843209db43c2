"""What a program of the user reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.hook import run_reports_command
from kalypso_actions.compliance.program_reports import reports_of_program
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.chain import ClusterSources
from kalypso_actions.model.cluster_reports import ClusterReport, FollowedTree

LONGEST: Final = 60.0
"""The seconds in which the command must end."""


class CommandReports:
    """The document that `reports-command` prints."""

    title = "reports-command"
    no_reports_advice = "run the command of reports-command, and look at the document it prints"
    knows_all_clusters = True

    def __init__(self, inputs: ClusterSources, context: CommandContext) -> None:
        self._inputs, self._runtime = inputs, context.runtime

    def check_inputs(self, followed: FollowedTree) -> None:  # noqa: ARG002 # the protocol's
        """Raise UsageError without a command; run nothing."""
        if not self._inputs.reports_command:
            raise UsageError("reports-command is missing", advice="name the program to run")

    def setup_advice(self) -> str:
        """Return the inputs that `kalypso doctor` lacks to send requests."""
        return "" if self._inputs.reports_command else "give --reports-command to have it run"

    def reports(self, followed: FollowedTree) -> Sequence[ClusterReport]:
        """Run the command and return its reports.

        Raise UsageError without a command, KalypsoError if it fails, takes too long, or prints
        something else.
        """
        self.check_inputs(followed)
        text = run_reports_command(
            self._inputs.reports_command,
            self._runtime,
            {"repository": followed.repository_url, "branch": followed.branch},
            self._inputs.reports_environment,
            LONGEST,
        )
        return reports_of_program(text, self._runtime.now())

    def close(self) -> None:
        """Do nothing: no connection is open."""
