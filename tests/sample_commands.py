"""Command lines that read the sample repositories, relative to the root of this repository."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEV = "samples/control-plane/dev"
HOST = "https://github.northline.example"
SOURCES = {
    f"{HOST}/platform/control-plane": "samples/control-plane/main",
    f"{HOST}/passengers/departure-boards": "samples/apps/departure-boards",
    f"{HOST}/rolling-stock/wheel-inspection": "samples/apps/wheel-inspection",
}
"""Each repository that the control plane names, and the local folder in its place."""
READING = ["dev", *(f"--source={url}={folder}" for url, folder in SOURCES.items())]
RENDER = ["render", *READING]
EXPLAIN = ["explain", *READING, f"--environment-dir={DEV}"]
