"""Inputs of `kalypso doctor`."""

from __future__ import annotations

from kalypso_actions.inputs.chain import ClusterReportsInputs, PlanInputs


class DoctorInputs(ClusterReportsInputs, PlanInputs):
    """Inputs of `kalypso doctor`.

    The token is that of a person who may see the settings of both repositories. An App is examined
    as well, and the clusters' reports are read if the source's inputs are given.
    """
