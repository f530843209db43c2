#!/usr/bin/env bash
# What every action of this repository runs: `launch.sh <command>`, with the action's inputs as JSON
# in KALYPSO_INPUTS. Finds a Python, lets install.py install the locked dependencies once per job,
# and becomes the command.
#
# Notes:
#   - It runs in the bash 3.2 of macOS and in Windows' Git Bash, where the runner's paths have
#     backslashes.
#   - `python -I` imports nothing by the job's PYTHONPATH or PYTHONHOME, nor from the workspace, and
#     leaves these variables as they are to what the job runs later. `-X utf8` is for Windows.
set -euo pipefail

die() {
    printf '::error title=kalypso::%s\n' "$1" >&2
    exit 1
}

# Where a Python may be, the most likely first: a line each.
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

# Whether a program is a Python that we can use. What has the name may be none at all: a version
# manager's shim without a version, or Windows' pointer to its store.
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

# In Git Bash, `pwd -W` is what Python understands also where a job keeps arguments as they are
# (MSYS_NO_PATHCONV); other shells refuse it.
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && { pwd -W 2>/dev/null || pwd; })
python=$(find_python)
[ -n "$python" ] || die "Kalypso needs Python 3.11 or later (CPython), and finds none: neither on \
PATH nor among the tools of the runner. Put a step with actions/setup-python before this one; in a \
container, take an image that has Python."

installed=$("$python" -I -X utf8 "$here/install.py") # it says by itself what goes wrong
exec "$installed" -I -X utf8 -m kalypso_actions "$@"
