r"""YAML as Go's libraries read and write it: yaml.v2 2.4.0 and yaml.v3 3.0.1.

    goyaml.parse("a: 1\nb: [yes, 0o17]")  # {"a": 1, "b": [True, 15]}, as yaml.v2 decodes it
    goyaml.dump_v3({"b": "1", "a": None})  # 'a: null\nb: "1"\n', as yaml.v3 writes it
    goyaml.dump_v2({"a": ["x"]})  # 'a:\n- x\n', as yaml.v2 writes it

A `ContentCache` keeps results for values of equal content.
"""

from __future__ import annotations

from kalypso_go.goyaml.content_cache import ContentCache, content_key
from kalypso_go.goyaml.emitter import dump_v2, dump_v3
from kalypso_go.goyaml.errors import MAX_BYTES, MAX_DEPTH, YAMLBoundError, YAMLError
from kalypso_go.goyaml.keys import InOrder
from kalypso_go.goyaml.parser import parse
from kalypso_go.goyaml.quoting import Verbatim

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "ContentCache",
    "InOrder",
    "Verbatim",
    "YAMLBoundError",
    "YAMLError",
    "content_key",
    "dump_v2",
    "dump_v3",
    "parse",
]
