#!/bin/sh
# The main job on the reference fabric, SONiC leaves beside NVUE spines, as a person would do it: demo.sh NODROP
set -eu
nodrop=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
intent=intents/reference-256-sonic-leaves.yaml
cd "$(dirname "$0")/.."
case $nodrop in /*) ;; *) nodrop=$(pwd)/$nodrop ;; esac
mkdir "$out/intents"
cp "$intent" "$out/intents"
cd "$out"

say() { printf '\n$ %s\n' "$*"; }

# fails DIR RULE FILE: lint DIR must exit with 1 and find RULE, with a line in FILE
fails() {
    say "nodrop lint $1"
    code=0
    "$nodrop" lint "$1" >found || code=$?
    cat found
    [ "$code" = 1 ] || { echo "demo: expected exit code 1, got $code" >&2; exit 1; }
    grep -q "^error\[$2\]\|^warning\[$2\]" found || { echo "demo: $2 was not found" >&2; exit 1; }
    grep -q -e "--> $3:[0-9]" found || { echo "demo: $3 was not named" >&2; exit 1; }
    echo "(exit code 1)"
}

say "nodrop show $intent | head -n 19"
"$nodrop" show "$intent" >page
head -n 19 page
say "nodrop build $intent -o build"
"$nodrop" build "$intent" -o build 2>&1
say ls build build/leaf1 build/spine1 build/spine1/apply
ls build build/leaf1 build/spine1 build/spine1/apply
say nodrop lint build
"$nodrop" lint build

printf '\nThe most common fault of such clusters on SONiC: a leaf without PFC_WD.\n'
cp -r build no-pfc-wd
sed -i '/^    "PFC_WD": {/,/^    }/{/"Ethernet/,/}/d}' no-pfc-wd/leaf2/config_db.json
sed -i '/^    "PFC_WD": {/,/^    }/s/^        },$/        }/' no-pfc-wd/leaf2/config_db.json
fails no-pfc-wd pfc-without-watchdog no-pfc-wd/leaf2/config_db.json

printf '\nAnd on Spectrum: a switch whose ports never had pfc-watchdog enabled.\n'
cp -r build no-pfc-watchdog
rm -r no-pfc-watchdog/spine1/apply
sed -i '/^          pfc-watchdog:$/,/state: enable/d' no-pfc-watchdog/spine1/startup.yaml
fails no-pfc-watchdog fabric-pfc-without-watchdog no-pfc-watchdog/spine1/startup.yaml
