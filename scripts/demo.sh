#!/bin/sh
# The main job on the reference fabric, as a person would do it: demo.sh NODROP
set -eu
nodrop=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
intent=intents/reference-256.yaml
cd "$(dirname "$0")/.."
case $nodrop in /*) ;; *) nodrop=$(pwd)/$nodrop ;; esac

say() { printf '\n$ %s\n' "$*"; }

mkdir "$out/intents"
cp $intent "$out/intents"
cd "$out"

say nodrop show $intent
"$nodrop" show $intent
say nodrop build $intent -o build
"$nodrop" build $intent -o build
say ls build build/leaf1
ls build build/leaf1
say nodrop lint build
"$nodrop" lint build

printf '\nNow the most common fault of such clusters: somebody forgets the PFC watchdog on one leaf.\n'
cp -r build broken
sed -i '/^    "PFC_WD": {/,/^    }/{/"Ethernet/,/}/d}' broken/leaf2/config_db.json
sed -i '/^    "PFC_WD": {/,/^    }/s/^        },$/        }/' broken/leaf2/config_db.json
say nodrop lint broken
code=0
"$nodrop" lint broken || code=$?
[ "$code" = 1 ] || { echo "expected exit code 1, got $code" >&2; exit 1; }
