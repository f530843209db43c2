"""Run by a Python that has gotpl: `gotpl_render.py FILE SECONDS` prints manifests a second."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import gotpl
from gotpl.funcs import sprig


def main() -> None:
    """Check that every output is as expected, then measure."""
    uses = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    functions = sprig.text_func_map()
    compiled = {text: gotpl.Template(text, functions=functions) for text in _texts(uses)}
    for use in uses:
        output = compiled[use["text"]].render(use["data"])
        if output != use["expected"]:
            sys.exit(f"gotpl renders {output!r}, expected was {use['expected']!r}")
    pairs = [(compiled[use["text"]], use["data"]) for use in uses]
    rendered = 0
    started = time.perf_counter()
    while time.perf_counter() - started < float(sys.argv[2]):
        for template, data in pairs:
            template.render(data)
        rendered += len(pairs)
    print(rendered / (time.perf_counter() - started))


def _texts(uses: list[dict[str, str]]) -> set[str]:
    return {use["text"] for use in uses}


if __name__ == "__main__":
    main()
