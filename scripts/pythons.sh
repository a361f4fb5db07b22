#!/bin/sh
# Gives every other Python of this machine what nodrop needs: pythons.sh FOLDER. One that cannot have it is named.
set -eu
folder=$1
for version in 3.11 3.12 3.13 3.14; do
    for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
        "$python" -c 'import ensurepip, venv' 2>/dev/null || continue
        "$python" -m venv "$folder/$version" &&
            "$folder/$version/bin/pip" install -q --only-binary :all: -c constraints.txt hatchling editables &&
            "$folder/$version/bin/pip" install -q --only-binary :all: -c constraints.txt --no-build-isolation -e . &&
            echo "$folder/$version" && break
        echo "$python cannot have what nodrop needs" >&2
        rm -rf "${folder:?}/$version"
    done
done
