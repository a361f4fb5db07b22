#!/bin/sh
# Brings this switch, spine2, to the configuration in ../startup.yaml, stage by stage: run it on the switch.
# It stops at the first error. What is configured beside it stays.
set -eu
cd "$(dirname "$0")"

if ! command -v nv >/dev/null 2>&1; then
    echo "apply.sh: there is no nv here: run this on the switch, spine2 (Cumulus Linux 5.16)" >&2
    exit 1
fi

echo "apply.sh: where the hash seed changes, switchd restarts: all ports go down and come back"
echo "apply.sh: 10-ports.yaml: ports, routing and services"
nv config patch 10-ports.yaml
nv config apply -y
nv config save
echo "apply.sh: done; the same in commands: 10-ports.nv"
