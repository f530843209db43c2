#!/usr/bin/env bash
# Every action of this repository runs `launch.sh <command>`, with its inputs as JSON in
# KALYPSO_INPUTS. The script finds a Python, lets install.py install the locked dependencies once per
# job, and becomes the command.
#
# Notes:
#   - It runs in the bash 3.2 of macOS and in Windows' Git Bash, where the runner's paths have
#     backslashes.
#   - `python -I` ignores the job's PYTHONPATH and PYTHONHOME, and imports nothing from the workspace;
#     later programs of the job still get these variables. `-X utf8` is for Windows.
set -euo pipefail

die() {
    printf '::error title=kalypso::%s\n' "$1" >&2
    exit 1
}

# Prints the places of possible Pythons, the most likely first, one on each line.
candidates() {
    printf '%s\n' python3 python python3.14 python3.13 python3.12 python3.11
    local cache=${RUNNER_TOOL_CACHE:-/opt/hostedtoolcache} version architecture
    cache=${cache//\\//}
    for version in "$cache"/Python/3.*.*; do
        printf '%s\n' "${version##*/}"
    done | sort -t . -k 2,2nr -k 3,3nr | while read -r version; do
        for architecture in x64 arm64; do
            printf '%s\n' "$cache/Python/$version/$architecture"/{bin/python,python.exe}
        done
    done
}

# Tells whether a program is a usable Python. A program of that name may be a version manager's shim
# without a version, or Windows' link to its store.
is_usable() {
    "$1" -I -c 'import sys; sys.exit(
        sys.version_info < (3, 11) or sys.implementation.name != "cpython"
    )' </dev/null >/dev/null 2>&1
}

find_python() {
    local candidate
    while IFS= read -r candidate; do
        if is_usable "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done <<<"$(candidates)"
}

# In Git Bash, `pwd -W` prints a path that Python understands even if a job turns off the conversion
# of arguments (MSYS_NO_PATHCONV); other shells refuse it.
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && { pwd -W 2>/dev/null || pwd; })
python=$(find_python)
[ -n "$python" ] || die "Kalypso needs Python 3.11 or later (CPython), and finds none: neither on \
PATH nor among the tools of the runner. Add a step with actions/setup-python before this one; in a \
container, use an image that has Python."

installed=$("$python" -I -X utf8 "$here/install.py") # it reports its own errors
exec "$installed" -I -X utf8 -m kalypso_actions "$@"
