"""YAML as Go's libraries read and write it: yaml.v2 2.4.0 and yaml.v3 3.0.1.

    parse(text)       decode like yaml.v2 into an `interface{}`
    dump_v3(value)    write like yaml.v3
    dump_v2(value)    write like yaml.v2

Reading passes through cursor, scanner (with flow_scalars, block_scalars, tags), composer and
parser: from characters to tokens, nodes and values; `scalars` gives scalars their types. The
emitter writes: `keys` orders the keys, `quoting` chooses the style of a string, `layout` breaks it
into lines, and `content_cache` keeps the results for equal values.
"""

from __future__ import annotations

from kalypso_go.goyaml.bounds import MAX_BYTES, MAX_DEPTH
from kalypso_go.goyaml.content_cache import ContentCache, content_key
from kalypso_go.goyaml.emitter import dump_v2, dump_v3
from kalypso_go.goyaml.errors import YAMLBoundError, YAMLError
from kalypso_go.goyaml.parser import parse
from kalypso_go.goyaml.representations import InOrder, Verbatim

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
