"""YAML as Go's libraries read and write it: yaml.v2 2.4.0 and yaml.v3 3.0.1.

    parse(text)       what yaml.v2 decodes into an `interface{}`
    dump_v3(value)    what yaml.v3 writes
    dump_v2(value)    what yaml.v2 writes

Reading goes cursor, scanner (with flow_scalars, block_scalars, tags), composer, parser: from
characters to tokens, nodes and values; `scalars` tells what a scalar is. Writing goes emitter, with
keys for their order, quoting for the form of a string and layout for those of several lines;
`remembered` keeps what has been worked out for equal values.
"""

from __future__ import annotations

from kalypso_actions.goyaml.bounds import MAX_BYTES, MAX_DEPTH
from kalypso_actions.goyaml.emitter import dump_v2, dump_v3
from kalypso_actions.goyaml.errors import YAMLBoundError, YAMLError
from kalypso_actions.goyaml.parser import parse
from kalypso_actions.goyaml.remembered import Remembered, content_key
from kalypso_actions.goyaml.represented import InOrder, Verbatim

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "InOrder",
    "Remembered",
    "Verbatim",
    "YAMLBoundError",
    "YAMLError",
    "content_key",
    "dump_v2",
    "dump_v3",
    "parse",
]
