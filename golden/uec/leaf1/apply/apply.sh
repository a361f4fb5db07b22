#!/bin/sh
# Loads config_db.json and frr.conf of the folder above on the SONiC switch that this runs on. Usage: see below.
# If a step fails, times out or is interrupted, both files and CONFIG_DB are put back as they were.
set -u
umask 022

SONIC=/etc/sonic
SAVED=$SONIC/nodrop
DEVICES=/usr/share/sonic/device
MODE=split-unified
RELEASES='202511'
MIGRATED_FROM='minigraph.xml golden_config_db.json'

usage() {
    cat <<'END'
Usage: sudo sh apply.sh [--check] [--timeout SECONDS] [--keep] [--any-release]
       sudo sh apply.sh --restore [FOLDER]

  --check            check the two files and the switch; change nothing
  --timeout SECONDS  how long ports and BGP sessions may take to come back (default: 600)
  --keep             keep the new configuration even if ports or BGP sessions that were up stay down
  --any-release      load on a release that the files are not written for
  --restore [FOLDER] load what an earlier run saved in FOLDER (default: the latest)

Exit code: 0 done, 1 refused and nothing changed, 2 wrong usage, 3 failed and restored, 4 not restored
END
}

# How commands run: under a time limit, with their output in a log, so that a lost terminal stops none of them.

phase=checking # then placed: files may differ; loaded: CONFIG_DB may differ too; restoring
child='' stopped='' unbroken='' run='' input=/dev/null

say() {
    printf 'apply.sh: %s\n' "$1" 2>/dev/null || :
    [ -z "$run" ] || printf '%s\n' "$1" >>"$run/log"
}

refuse() {
    [ -z "$run" ] || tail -n 15 "$run/log" >&2
    printf 'apply.sh: %s; nothing was changed\n' "$1" >&2
    [ -z "$run" ] || rm -rf "$run"
    exit 1
}

begin() {
    trap 'interrupted INT' INT
    trap 'interrupted TERM' TERM
    trap '' HUP
    trap : PIPE
    [ "$(id -u)" -eq 0 ] || refuse "this needs root: sudo sh $0"
    for tool in config show sonic-cfggen sonic-db-cli systemctl vtysh python3 timeout flock; do
        command -v "$tool" >/dev/null || refuse "$tool is missing: run this on the SONiC switch"
    done
    { folder=$(dirname "$0") && cd "$folder/.."; } || refuse "the folder of $0 cannot be read"
    mkdir -p "$SAVED" || refuse "$SAVED cannot be made"
    touch "$SAVED/lock" || refuse "$SAVED cannot be written"
    exec 9>>"$SAVED/lock"
    flock -n 9 || refuse "another apply.sh is running"
    name=$SAVED/$(date +%Y%m%d-%H%M%S) || refuse "the time is unknown"
    run=$(mkdir -m 700 "$name" && printf %s "$name") || refuse "$name cannot be made"
    mkdir "$run/new" "$run/old" || refuse "$run cannot be written"
    cat >"$run/facts.py" <<'END' || refuse "$run cannot be written"
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

FIELD = "docker_routing_config_mode"


def load(path):
    return json.loads(Path(path).read_text("utf-8"))


def lines(path):
    return Path(path).read_text("utf-8", "replace").splitlines()


def metadata(config):
    row = load(config)["DEVICE_METADATA"]["localhost"]
    return [row.get(name, "not stated") for name in ("hwsku", "platform", FIELD)]


def release(path):
    stated = dict(re.findall(r"^(\w+): *'?([^'\n]*)", "\n".join(lines(path)), re.MULTILINE))
    said = " ".join(stated.get(name, "") for name in ("release", "branch", "build_version"))
    return re.findall(r"(?<![0-9A-Za-z])(?:20\d{4}|master)(?![0-9A-Za-z])", said)[:1]


def short(names):
    return " ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def ports(config, hwsku):
    lanes = {lane for row in load(hwsku)["PORT"].values() for lane in row["lanes"].split(",")}
    other = [name for name, row in load(config)["PORT"].items() if not lanes.issuperset(row["lanes"].split(","))]
    return [short(other)] if other else []


def migrated(mode, *paths):
    found = mode
    for path in paths:
        if path.endswith(".xml"):
            tags = [(one.tag.rpartition("}")[2], one.text) for one in ElementTree.parse(path).getroot()]
            found = dict(tags).get("DockerRoutingConfigMode", "separated")
        elif "DEVICE_METADATA" in (golden := load(path)):
            found = golden["DEVICE_METADATA"].get("localhost", {}).get(FIELD, "none")
    return [] if found == mode else [found or "none"]


def up(status, config):
    table = lines(status)
    ruled = next(number for number, line in enumerate(table) if re.fullmatch(r"[ -]*--[ -]*", line))
    spans = [one.span() for one in re.finditer("-+", table[ruled])]
    head, *rows = ([line[first:last].strip() for first, last in spans] for line in table[ruled - 1 :] if line != table[ruled])
    shown = [dict(zip(head, row)) for row in rows]
    wanted = {name for name, row in load(config)["PORT"].items() if row.get("admin_status") == "up"}
    return [row["Interface"] for row in shown if row["Oper"] == "up" and row["Interface"] in wanted]


def neighbors(frr):
    words = [line.split() for line in lines(frr)]
    named = [line for line in words if line[:1] == ["neighbor"] and len(line) > 2]
    groups = {line[1] for line in named if line[2:] == ["peer-group"]}
    return [one for one in dict.fromkeys(line[1] for line in named) if one not in groups]


def peers(node):
    if isinstance(node, dict):
        yield from node.get("peers", {}).items()
        for value in node.values():
            yield from peers(value)


def look(status, bgp, config, frr):
    known = list(peers(load(bgp)))
    found = {
        "ports": up(status, config),
        "configured": neighbors(frr),
        "known": [name for name, _ in known],
        "sessions": [name for name, peer in known if peer["state"] == "Established"],
    }
    return [json.dumps(found)]


def lacking(now, before, keep):
    now, before = load(now), load(before)
    wanted = {"known": now["configured"]}
    if not keep:
        wanted["sessions"] = [name for name in before["sessions"] if name in now["configured"]]
        wanted["ports"] = before["ports"]
    said = {"known": "bgpd lacks sessions of frr.conf", "sessions": "sessions stay down", "ports": "ports stay down"}
    down = {what: [name for name in names if name not in now[what]] for what, names in wanted.items()}
    return [f"{said[what]}: {short(names)}" for what, names in down.items() if names]


def report(now):
    now = load(now)
    down = [name for name in now["configured"] if name not in now["sessions"]]
    yield f"up: {len(now['ports'])} ports, {len(now['configured']) - len(down)} of {len(now['configured'])} BGP sessions"
    if down:
        yield f"BGP sessions that are not up: {short(down)}"


sys.stdout.writelines(f"{line}\n" for line in globals()[sys.argv[1]](*sys.argv[2:]))
END
}

end() {
    [ "$phase" != checking ] || rm -rf "$run"
    exit 0
}

# shellcheck disable=SC2317 # called by traps
interrupted() {
    stopped=$1
    [ -n "$child" ] || fail "stopped by SIG$stopped"
    if [ -n "$unbroken" ]; then
        say "SIG$stopped: waiting for $unbroken to end, then restoring"
    elif [ "$child" != starting ]; then
        kill "$child" 2>/dev/null
    fi
}

# into FILE SECONDS COMMAND...: its output in FILE of $run, its input from $input; exit status 124 or 137 after SECONDS.
into() {
    output=$run/$1 seconds=$2
    shift 2
    printf '+ %s\n' "$*" >>"$run/log"
    child=starting
    timeout -k 10 "$seconds" "$@" >"$output" 2>>"$run/log" <"$input" 9>&- &
    child=$!
    [ -z "$stopped" ] || [ -n "$unbroken" ] || kill "$child" 2>/dev/null
    while
        wait "$child"
        status=$?
        kill -0 "$child" 2>/dev/null
    do :; done
    child=''
    [ "$status" -eq 0 ] || cat "$output" >>"$run/log"
    [ -z "$stopped" ] || fail "stopped by SIG$stopped"
    return "$status"
}

limited() {
    into out "$@"
}

facts() {
    limited 60 python3 -I -S "$run/facts.py" "$@"
}

# The way back, and what ends a run.

fail() {
    [ "$phase" != checking ] || refuse "$1"
    [ "$phase" != restoring ] || not_restored "$1"
    tail -n 15 "$run/log" >&2
    say "$1: restoring what was there before"
    restore "$run/old"
    printf 'apply.sh: %s; restored config_db.json and frr.conf as they were; log: %s\n' "$1" "$run/log" >&2
    exit 3
}

not_restored() {
    printf 'apply.sh: %s; NOT RESTORED\n' "$1" >&2
    printf 'apply.sh: by hand: sudo sh %s --restore %s, or copy config_db.json and frr/ from there to %s and reboot\n' \
        "$PWD/apply/apply.sh" "$back" "$SONIC" >&2
    exit 4
}

# replace FILE TARGET: in one step, so that TARGET is never half a file.
replace() {
    cp -p "$1" "$2.nodrop" && mv -f "$2.nodrop" "$2"
}

put_back() {
    for file in "$back"/frr/*; do
        [ ! -f "$file" ] || replace "$file" "$SONIC/frr/${file##*/}" || return 1
    done
    [ -e "$back/frr/frr.conf" ] || rm -f "$SONIC/frr/frr.conf" || return 1
    if [ -e "$back/config_db.json" ]; then
        replace "$back/config_db.json" "$SONIC/config_db.json"
    else
        rm -f "$SONIC/config_db.json"
    fi
}

same_as_before() {
    for file in frr/frr.conf config_db.json; do
        if [ -e "$back/$file" ]; then
            cmp -s "$back/$file" "$SONIC/$file" || return 1
        else
            [ ! -e "$SONIC/$file" ] || return 1
        fi
    done
}

# CONFIG_DB comes from standard input: `config reload` validates a named file by YANG, which the old one may not pass.
reload_old() {
    input=$back/running.json
    for pause in 10 30 0; do
        limited 900 config reload -y -f /dev/stdin && return 0
        limited 60 sleep "$pause"
    done
    return 1
}

# Compared after loading too: in the mode that was set before, the bgp container may delete or write frr.conf.
restore() {
    back=$1
    was=$phase phase=restoring stopped=''
    trap : INT TERM
    put_back || put_back || not_restored "the files cannot be copied"
    [ "$was" != loaded ] || reload_old || not_restored "config reload failed three times"
    same_as_before || put_back
    same_as_before || not_restored "the files differ from those in $back"
}

# What must be true before anything is changed.

check() {
    cp config_db.json frr.conf "$run/new/" || refuse "config_db.json and frr.conf are not both in $PWD"
    new=$run/new/config_db.json
    check_switch
    check_files
    check_mode
    say "config_db.json and frr.conf fit this switch: $platform, $hwsku, release $release"
}

check_switch() {
    facts metadata "$new" || refuse "config_db.json is not a configuration of SONiC"
    { read -r hwsku && read -r wanted && read -r mode; } <"$run/out" || refuse "DEVICE_METADATA lacks hwsku or platform"
    facts release "$SONIC/sonic_version.yml" || refuse "$SONIC/sonic_version.yml cannot be read"
    read -r release <"$run/out" || refuse "$SONIC/sonic_version.yml states no release"
    case " $RELEASES ${any_release:+$release} " in
    *" $release "*) ;;
    *) refuse "the switch runs release $release, the files are for $RELEASES (--any-release loads them all the same)" ;;
    esac
    limited 60 sonic-cfggen -H -v DEVICE_METADATA.localhost.platform || refuse "the platform of the switch is unknown"
    read -r platform <"$run/out" || refuse "the platform of the switch is unknown"
    [ "$platform" = "$wanted" ] || refuse "the switch is a $platform, the files are for $wanted"
    [ -d "$DEVICES/$platform/$hwsku" ] || refuse "$platform has no HWSKU $hwsku on this release"
    into hwsku.json 120 sonic-cfggen -k "$hwsku" --print-data || refuse "the ports of HWSKU $hwsku cannot be read"
    facts ports "$new" "$run/hwsku.json" || refuse "the ports cannot be compared"
    ! read -r lacking <"$run/out" || refuse "HWSKU $hwsku lacks the lanes of $lacking"
    limited 60 sonic-db-cli CONFIG_DB HGET 'DEVICE_METADATA|localhost' hwsku || refuse "CONFIG_DB cannot be read"
    read -r runs <"$run/out" || runs=none
    [ "$runs" = "$hwsku" ] || say "the HWSKU changes from $runs to $hwsku"
}

# As `config reload` merges them; the bgp container has $SONIC at the same path.
check_files() {
    limited 120 sonic-cfggen -j "$new" --print-data || refuse "sonic-cfggen refuses config_db.json"
    limited 60 vtysh -C -f "$run/new/frr.conf" || refuse "FRR refuses frr.conf"
}

# db_migrator sets the mode from these files whenever CONFIG_DB is loaded, so at each boot too.
check_mode() {
    [ "$mode" = "$MODE" ] || refuse "docker_routing_config_mode is $mode in config_db.json, and only $MODE keeps frr.conf"
    set --
    for file in $MIGRATED_FROM; do
        [ ! -e "$SONIC/$file" ] || set -- "$@" "$SONIC/$file"
    done
    [ $# -gt 0 ] || return 0
    facts migrated "$MODE" "$@" || refuse "$* cannot be read"
    if read -r other <"$run/out"; then
        for file; do
            say "to mend: sudo mv $file $file.unused, or set docker_routing_config_mode to $MODE there"
        done
        refuse "db_migrator would set docker_routing_config_mode to $other, and only $MODE keeps frr.conf"
    fi
}

# What must be true after loading: frr.conf is in use, and the ports and sessions that were up come back.

look() {
    into status 60 env SONIC_CLI_IFACE_MODE=default show interfaces status || return 1
    into bgp.json 60 vtysh -c 'show bgp vrf all summary json' || return 1
    into "$1" 60 python3 -I -S "$run/facts.py" look "$run/status" "$run/bgp.json" "$new" "$run/new/frr.conf"
}

kept_mode() {
    limited 60 sonic-db-cli CONFIG_DB HGET 'DEVICE_METADATA|localhost' docker_routing_config_mode
    read -r found <"$run/out" || found='not set'
    [ "$found" = "$MODE" ] || fail "docker_routing_config_mode is $found in CONFIG_DB, and only $MODE keeps frr.conf"
}

# The bgp container adds lines at the end.
kept_frr_conf() {
    size=$(wc -c <"$run/new/frr.conf") && cmp -s -n "$size" "$run/new/frr.conf" "$SONIC/frr/frr.conf"
}

# Whether the switch still lacks something, as $lacking; --keep asks only that bgpd has read frr.conf.
lacks() {
    lacking='the switch does not answer'
    look now && facts lacking "$run/now" "$run/before" "$keep" || return 0
    read -r lacking <"$run/out"
}

wait_for_switch() {
    kept_mode
    say "waiting up to $timeout s for ports and BGP sessions"
    until=$(($(date +%s) + timeout))
    while lacks; do
        [ "$(date +%s)" -lt "$until" ] || fail "after $timeout s: $lacking"
        limited 60 sleep 5
    done
    kept_mode
    kept_frr_conf || fail "the bgp container deleted or rewrote frr.conf"
}

# What is saved, loaded and kept; and the way back that is asked for.

save_old() {
    old=$run/old
    [ ! -e "$SONIC/config_db.json" ] || cp -p "$SONIC/config_db.json" "$old/" || refuse "config_db.json cannot be saved"
    cp -Rp "$SONIC/frr" "$old/frr" || refuse "$SONIC/frr cannot be saved"
    limited 120 config save -y "$old/running.json" || refuse "CONFIG_DB cannot be saved"
    facts metadata "$old/running.json" || refuse "CONFIG_DB cannot be saved"
    look before || refuse "the switch does not tell which ports and BGP sessions are up"
    touch "$old/complete" || refuse "$old cannot be written"
    sync || refuse "$old cannot be written"
    say "saved config_db.json, frr.conf and CONFIG_DB in $old"
}

# When sonic.target last started or stopped: `config reload` stops it before it changes anything.
target() {
    into "$1" 60 systemctl show --property=StateChangeTimestampMonotonic sonic.target
}

load() {
    target started || refuse "the state of sonic.target is unknown"
    chmod 640 "$run/new/frr.conf" || refuse "$run cannot be written"
    phase=placed
    replace "$run/new/frr.conf" "$SONIC/frr/frr.conf" || fail "frr.conf cannot be written"
    say "config reload: all services restart, traffic stops"
    phase=loaded unbroken='config reload'
    into reload 900 config reload -y "$new" && reloaded=0 || reloaded=$?
    unbroken=''
    case $reloaded in
    124 | 137) fail "config reload took longer than 900 s" ;;
    esac
    if target restarted && cmp -s "$run/started" "$run/restarted"; then
        phase=placed
        fail "config reload did not load config_db.json (exit code $reloaded)"
    fi
    [ "$reloaded" -eq 0 ] || fail "config reload failed (exit code $reloaded)"
}

keep_new() {
    limited 120 config save -y || fail "the new CONFIG_DB cannot be saved"
    facts metadata "$SONIC/config_db.json" || fail "config save did not write config_db.json"
    sync || fail "the new files cannot be written"
    trap : INT TERM
    phase=kept
    facts report "$run/now" && while read -r line; do say "$line"; done <"$run/out"
    say "done: saved for the next boot"
    say "the way back: sudo sh $PWD/apply/apply.sh --restore $run/old"
}

restore_saved() {
    if [ -z "$from" ]; then
        for saved in "$SAVED"/*/old; do
            [ ! -e "$saved/complete" ] || from=$saved
        done
    fi
    [ -e "$from/complete" ] || refuse "no earlier run is saved in ${from:-$SAVED}"
    say "loading what was saved in $from: all services restart, traffic stops"
    phase=loaded
    restore "$from"
    say "restored config_db.json, frr.conf and CONFIG_DB from $from"
}

action=load timeout=600 keep='' any_release='' from=''
while [ $# -gt 0 ]; do
    case $1 in
    --check) action=check ;;
    --timeout)
        timeout=${2-}
        [ $# -eq 1 ] || shift
        ;;
    --keep) keep=yes ;;
    --any-release) any_release=yes ;;
    --restore)
        action=restore from=${2-}
        [ $# -eq 1 ] || shift
        ;;
    --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done
case $timeout in
'' | *[!0-9]*) usage >&2 && exit 2 ;;
esac
begin
case $action in
restore) restore_saved ;;
check) check && say "checks passed; nothing was changed" ;;
load) check && save_old && load && wait_for_switch && keep_new ;;
esac
end
