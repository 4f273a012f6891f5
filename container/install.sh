#!/bin/sh
# Installs Fairway with its service into a folder of its own, and compiles its kernels, so that whoever runs it later
# needs to write neither there nor anywhere else but where its jobs are kept.
#
#     sh container/install.sh TARGET [options of pip ...]
set -eu
target=$1
shift
here=$(dirname "$0")/..
"${PYTHON:-python3}" -m venv "$target"
"$target/bin/python" -m pip install --no-cache-dir --constraint "$here/constraints.txt" "$@" "$here[serve,xlsx]"
"$target/bin/fairway" warmup
