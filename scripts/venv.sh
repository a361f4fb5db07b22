#!/bin/sh
# Makes the virtual environment: venv.sh PYTHON FOLDER. Without ensurepip it says what to install, and does so as root.
set -eu
python=$1
venv=$2
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$python cannot make virtual environments: apt install python3-venv" >&2
    [ "$(id -u)" = 0 ] || exit 1
    apt-get update -q >/dev/null && apt-get install -y -q python3-venv >/dev/null
fi
[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
"$venv/bin/pip" install -q -c constraints.txt hatchling editables
"$venv/bin/pip" install -q -c constraints.txt --no-build-isolation -e . -r scripts/develop.txt
