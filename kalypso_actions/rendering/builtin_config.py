"""Configuration files without a Template, as in old control planes.

Before Templates of type `config` existed, a ClusterType without `configType`, or with `configMap`,
got a ConfigMap, and one with `envFile` got a shell script. Their values are plain texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kalypso_actions.rendering.manifests import ManifestError
from kalypso_go import goyaml

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_EXPANDS = re.compile(r'["$`\\\n\r\0]')


def config_map(texts: Mapping[str, str], namespace: str) -> str:
    """Return the ConfigMap `platform-config` as yaml.v2 writes it."""
    return goyaml.dump_v2(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "platform-config", "namespace": namespace},
            "data": dict(texts),
        }
    )


def env_file(texts: Mapping[str, str]) -> str:
    """Return lines of `export KEY="VALUE"`, sorted bytewise, without escapes.

    Raises ManifestError for a value that a shell would expand or that would end the quotes; in
    upstream, such a value becomes a command.
    """
    lines = []
    for key, text in sorted(texts.items(), key=lambda item: item[0].encode()):
        if not _ENV_NAME.match(key):
            raise ManifestError(f"{key!r} cannot be the name of an environment variable")
        if _EXPANDS.search(text):
            raise ManifestError(
                f"the value of {key} contains a character that a shell would not take as text "
                '(one of " $ ` \\ or a line break)'
            )
        lines.append(f'export {key}="{text}"\n')
    return "".join(lines)
