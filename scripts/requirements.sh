#!/bin/sh
# Pins what is installed by hash: requirements.sh BIN, the programs of the virtual environment. Versions are those of
# constraints.txt, hashes those of every published file: each Python from 3.11 on, each operating system.
set -eu
bin=$1
"$bin/pip" install -q -c constraints.txt uv
for name in runtime build docs release; do
    source=scripts/$name.in
    [ "$name" = runtime ] && source=pyproject.toml
    "$bin/uv" pip compile -q --universal --python-version 3.11 --no-annotate --generate-hashes -c constraints.txt \
        --custom-compile-command "make requirements" "$source" -o "scripts/$name.txt"
done
