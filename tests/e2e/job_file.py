"""A workflow file with one of its jobs alone.

act knows one token for a whole run, and GitHub a token for each job, with the permissions that its
file names. So each job runs by itself; whoever runs them keeps to their order.
"""

from __future__ import annotations

from typing import Any

import yaml


def alone(content: bytes, job: str) -> str:
    """The workflow in which there is this job only, and it needs no other one.

    Raises ValueError where the job asks for what another one has left.
    """
    document: dict[Any, Any] = yaml.safe_load(content)
    # YAML 1.1 takes the word for a truth value.
    document = {"on" if key is True else key: value for key, value in document.items()}
    described = dict(document["jobs"][job])
    described.pop("needs", None)
    written = yaml.safe_dump(described)
    if "needs." in written:
        raise ValueError(f"the job {job} uses outputs of others, which are not handed on here")
    return yaml.safe_dump({**document, "jobs": {job: described}}, sort_keys=False)
