#!/bin/sh
# Applies the stages of this folder on the Cumulus Linux switch that this runs on. Usage: see below.
# If a step fails, times out, is interrupted or is not confirmed, the configuration from before is applied again.
set -u
umask 077

SAVED=/var/lib/nodrop
STARTUP=/etc/nvue.d/startup.yaml
RELEASE_FILE=/etc/lsb-release
RELEASE=5.16
MODEL=SN4700
DHCP='ipv4 dhcp-client'
RENEWED='qos roce|qos traffic-pool|qos congestion-control default-global|qos egress-scheduler default-global|qos mapping default-global|qos pfc default-global|qos egress-queue-mapping default-global'
RESTARTS='system forwarding hash-seed'

usage() {
    cat <<'END'
Usage: sudo sh apply.sh [--check] [--timeout SECONDS] [--keep] [--unattended] [--any-release] [--any-model]
       sudo sh apply.sh --confirm
       sudo sh apply.sh --restore [FOLDER]

  --check            check the switch and show what would change; apply nothing
  --timeout SECONDS  how long ports, BGP sessions and a confirmation may take (default: 600)
  --keep             keep the new configuration even if ports or BGP sessions that were up stay down
  --unattended       do not ask for a confirmation where eth0 changes
  --any-release      apply on a release that the files are not written for
  --any-model        apply on a model that the files are not written for
  --confirm          confirm the change of eth0 that a running apply.sh waits for
  --restore [FOLDER] apply what an earlier run saved in FOLDER (default: the latest)

Exit code: 0 done, 1 refused and nothing changed, 2 wrong usage, 3 failed and restored, 4 not restored
END
}

# How commands run: under a time limit, with their output in a log, so that a lost terminal stops none of them.

phase=checking # then patched: a revision is pending; applied: the configuration may differ; restoring
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
    for tool in nv ip grep sed vtysh python3 timeout flock; do
        command -v "$tool" >/dev/null || refuse "$tool is missing: run this on the Cumulus Linux switch"
    done
    { folder=$(dirname "$0") && cd "$folder"; } || refuse "the folder of $0 cannot be read"
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


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def lines(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def statements(*files):
    """The words behind `nv set` of each line."""
    return [line.split()[2:] for path in files for line in lines(path) if line.startswith("nv set ")]


def names(key):
    before = ""
    for part in key.split(","):
        found = re.fullmatch(r"(\D.*?)??(\d+)(?:-(\d+))?", part)
        before = found[1] or before if found else part
        span = range(int(found[2]), int(found[3] or found[2]) + 1) if found else [""]
        yield from (f"{before}{number}" for number in span)


def short(names):
    return " ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def model(path, wanted):
    """The model, and whether it is the one that is wanted: an EEPROM may go on with the variant, as in MSN4700-WS2F."""
    name = load(path)["tlv"]["Product Name"]["value"].strip().removeprefix("M")
    if not re.match(r"SN\d", name):
        return []
    return [f"{name} {'yes' if re.match(rf'{re.escape(wanted)}(?![0-9A-Za-z])', name) else 'no'}"]


def waiting(path):
    return [name for name, row in load(path).items() if isinstance(row, dict) and row.get("state") == "confirm"][:1]


def same(one, other):
    return ["yes" if sorted(lines(one)) == sorted(lines(other)) else "no"]


def stated_among(settings, commands):
    """Those of the settings, or of what is below them, that the switch has."""
    said = [" ".join(path) for path in statements(commands)]
    return [one for one in settings.split("|") if any(path == one or path.startswith(f"{one} ") for path in said)]


def leaves_dhcp(stage, words, commands):
    eth0 = [path for path in statements(stage) if path[:2] == ["interface", "eth0"]]
    static = any("address" in path[2:-1] and "." in path[-1] for path in eth0)
    named = [path for path in statements(commands) if path[0] == "interface" and " ".join(path[2:]).startswith(words)]
    return ["yes" if static and any("eth0" in names(path[1]) for path in named) else "no"]


def changed(diff):
    """The paths of `nv config diff`: YAML, in which a long key is behind a question mark."""
    path = []
    for line in lines(diff):
        is_long = line.lstrip().startswith("? ")
        text = re.sub(r"^( *)[-?:] ", r"\1  ", line)
        depth = line.index("?") if is_long else len(text) - len(text.lstrip())
        key = text.strip() if is_long else text.strip().partition(": ")[0].removesuffix(":")
        path = [one for one in path if one[0] < depth] + [(depth, key.strip("'\""))]
        yield [word for _, word in path if word not in ("set", "unset")]


def effects(diff, patterns):
    """The settings that restart switchd, and eth0 where it changes."""
    wanted = [pattern.split() for pattern in patterns.split("|")]
    found = {}
    for path in changed(diff):
        for pattern in wanted:
            if len(path) == len(pattern) and all(one in ("*", word) for one, word in zip(pattern, path)):
                found[" ".join(word for word in pattern if word != "*")] = True
        if len(path) == 2 and path[0] == "interface" and "eth0" in names(path[1]):
            found["eth0"] = True
    return found


def peers(node):
    if isinstance(node, dict):
        yield from node.get("peers", {}).items()
        for value in node.values():
            yield from peers(value)


def look(links, bgp):
    known = list(peers(load(bgp)))
    rows = [row for row in load(links) if re.fullmatch(r"swp\d+(s\d+)?", row["ifname"])]
    found = {
        "exist": [row["ifname"] for row in rows],
        "ports": [row["ifname"] for row in rows if row["operstate"] == "UP"],
        "known": [name for name, _ in known],
        "sessions": [name for name, peer in known if peer["state"] == "Established"],
    }
    return [json.dumps(found)]


def stated(*stages):
    """The parts of ports that the stages make, the ports that they shut, and the sessions."""
    said = statements(*stages)
    keyed = [path for path in said if path[0] == "interface" and len(path) > 4]
    broken = [path for path in keyed if path[2:4] == ["link", "breakout"] and re.fullmatch(r"\d+x", path[4])]
    parts = {f"{name}s{n}" for path in broken for name in names(path[1]) for n in range(int(path[4][:-1]))}
    down = {name for path in keyed if path[2:5] == ["link", "state", "down"] for name in names(path[1])}
    sessions = {path[5] for path in said if path[0] == "vrf" and path[2:5] == ["router", "bgp", "neighbor"]}
    return parts, down, sessions


def lacking(links, bgp, before, keep, *stages):
    """What the switch lacks, an empty line where it lacks nothing, then what is up."""
    now, before = json.loads(look(links, bgp)[0]), load(before)
    parts, down, sessions = stated(*stages)
    lacks = [("parts of ports do not exist", parts - {*now["exist"]})]
    lacks += [("bgpd lacks sessions", sessions - {*now["known"]})]
    if not keep:
        lacks += [("sessions stay down", {*before["sessions"]} & sessions - {*now["sessions"]})]
        lacks += [("ports stay down", {*before["ports"]} & {*now["exist"]} - {*now["ports"]} - down)]
    yield "; ".join(f"{what}: {short(sorted(found))}" for what, found in lacks if found)
    yield f"up: {len(now['ports'])} ports, {len(sessions & {*now['sessions']})} of {len(sessions)} BGP sessions"
    if idle := sessions - {*now["sessions"]}:
        yield f"BGP sessions that are not up: {short(sorted(idle))}"


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

# What a second apply.sh does for the one that waits; so it takes no lock.
confirm() {
    [ "$(id -u)" -eq 0 ] || refuse "this needs root: sudo sh $0 --confirm"
    for asked in "$SAVED"/*/asked; do
        [ -e "$asked" ] || refuse "no apply.sh waits for a confirmation"
        touch "${asked%asked}confirmed" || refuse "$SAVED cannot be written"
    done
    say "confirmed: the apply.sh that waits goes on"
    exit 0
}

# The way back, and what ends a run.

fail() {
    [ "$phase" != checking ] || refuse "$1"
    [ "$phase" != restoring ] || not_restored "$1"
    tail -n 15 "$run/log" >&2
    say "$1: restoring what was there before"
    restore "$run/old"
    printf 'apply.sh: %s; restored the configuration from before; log: %s\n' "$1" "$run/log" >&2
    exit 3
}

not_restored() {
    printf 'apply.sh: %s; NOT RESTORED\n' "$1" >&2
    printf 'apply.sh: by hand: sudo sh %s --restore %s, or sudo nv config replace %s/startup.yaml and nv config apply\n' \
        "$PWD/apply.sh" "$back" "$back" >&2
    exit 4
}

# The revision that is applied and waits for its confirmation, as $revision.
waiting() {
    revision=''
    into revisions 60 nv config revision -o json || return 1
    facts waiting "$run/revisions" || return 1
    read -r revision <"$run/out" || return 0
}

# Whether `nv config diff` wrote a difference to a file of $run.
differs() {
    grep -Eq '^ *- (un)?set:' "$run/$1" && return 0
    [ $? -eq 1 ] || fail "the changes cannot be read"
    return 1
}

# same FILE: whether what `nv config show` wrote to a file of $run is what it shows last, in any order.
same() {
    facts same "$run/$1" "$run/shown" && read -r found <"$run/out" && [ "$found" = yes ]
}

same_as_before() {
    into shown 120 nv config show -o commands && cp "$back/commands" "$run/commands" && same commands
}

saved_too() {
    into unsaved 120 nv config diff applied startup && ! differs unsaved
}

# `--confirm-no` rolls back to before this stage only, since the stages before it were confirmed.
take_back() {
    ! waiting || [ -z "$revision" ] || limited 900 nv config apply "$revision" --confirm-no
    limited 60 nv config detach
    if ! same_as_before; then
        limited 300 nv config replace "$back/startup.yaml" && limited 900 nv config apply -y && same_as_before || return 1
    fi
    [ "$was" = patched ] || limited 300 nv config save || return 1
    waiting && [ -z "$revision" ] && saved_too
}

restore() {
    back=$1
    was=$phase phase=restoring stopped=''
    trap : INT TERM
    for pause in 10 30 60 0; do
        ! take_back || return 0
        limited 90 sleep "$pause"
    done
    not_restored "nv config replace and nv config apply failed four times"
}

# What must be true before anything is changed.

check() {
    cp ./[0-9]*.nv ./[0-9]*.yaml "$run/new/" || refuse "the stages are not in $PWD"
    into out 60 sed -n 's/^DISTRIB_RELEASE="\{0,1\}\([0-9]*\.[0-9]*\).*/\1/p' "$RELEASE_FILE" ||
        refuse "$RELEASE_FILE cannot be read"
    read -r release <"$run/out" || refuse "$RELEASE_FILE states no release of Cumulus Linux"
    [ "$release" = "$RELEASE" ] || [ -n "$any_release" ] ||
        refuse "the switch runs Cumulus Linux $release, the files are for $RELEASE (--any-release applies them all the same)"
    check_model
    waiting || refuse "nv config revision does not answer"
    [ -z "$revision" ] || refuse "revision $revision waits for its confirmation: nv config apply $revision --confirm-yes"
    into pending 120 nv config diff || refuse "nv config diff does not answer"
    ! differs pending || refuse "changes are pending: apply them, or drop them by nv config detach"
    into unsaved 120 nv config diff applied startup || refuse "nv config diff does not answer"
    ! differs unsaved || refuse "the applied configuration is not saved: sudo nv config save"
    into old/commands 120 nv config show -o commands || refuse "nv config show does not answer"
    say "the files fit this switch: ${model:-model not known}, Cumulus Linux $release"
}

# A virtual switch has no EEPROM.
check_model() {
    model='' fits=''
    into eeprom 60 decode-syseeprom -j && facts model "$run/eeprom" "$MODEL" && read -r model fits <"$run/out"
    if [ -z "$model" ]; then
        say "decode-syseeprom names no Spectrum switch: the model is not checked"
        return 0
    fi
    [ "$fits" = yes ] || [ -n "$any_model" ] ||
        refuse "the switch is a $model, the files are for $MODEL (--any-model applies them all the same)"
}

save_old() {
    old=$run/old
    cp -p "$STARTUP" "$old/startup.yaml" || refuse "$STARTUP cannot be saved"
    [ -s "$old/startup.yaml" ] || refuse "$STARTUP is empty"
    look "$old/commands" || refuse "the switch does not tell which ports and BGP sessions are up"
    into before 60 python3 -I -S "$run/facts.py" look "$run/links" "$run/bgp" ||
        refuse "the switch does not tell which ports and BGP sessions are up"
    touch "$old/complete" || refuse "$old cannot be written"
    sync || refuse "$old cannot be written"
    say "saved the configuration in $old"
}

# look FILE...: bgpd runs only where one of the files configures BGP.
look() {
    into links 60 ip -j link show || return 1
    if grep -q ' router bgp ' "$@"; then
        into bgp 60 vtysh -c 'show bgp vrf all summary json' || return 1
    else
        echo '{}' >"$run/bgp"
    fi
}

# All stages in one pending revision, which is dropped again: NVUE checks it only as it is applied.
preview() {
    for stage in "$run"/new/*.yaml; do
        patch "$stage"
    done
    show_changes "all stages"
    limited 60 nv config detach || fail "nv config detach failed"
    phase=checking
    say "checks passed; nothing was applied"
}

# The pending revision: what it has of a stage, and what it changes.

patch() {
    [ "$phase" != checking ] || phase=patched
    ! grep -q '^nv set qos ' "${1%.yaml}.nv" || renew_qos
    limited 300 nv config patch "$1" || fail "nv config patch refuses ${1##*/}"
    ! grep -q '^nv set interface eth0 ' "${1%.yaml}.nv" || leave_dhcp "${1%.yaml}.nv"
}

# QoS of the whole switch is what the stage states: what a style leaves out as a default must not stay as it was.
renew_qos() {
    into renewed 60 python3 -I -S "$run/facts.py" stated_among "$RENEWED" "$run/old/commands" ||
        fail "the QoS of the switch cannot be read"
    while read -r setting; do
        # shellcheck disable=SC2086 # words of a command
        limited 120 nv unset $setting || fail "nv unset $setting failed"
    done <"$run/renewed"
}

leave_dhcp() {
    facts leaves_dhcp "$1" "$DHCP" "$run/old/commands" || fail "the configuration of eth0 cannot be read"
    read -r leaves <"$run/out"
    [ "$leaves" = yes ] || return 0
    say "eth0 gets a static address: its DHCP client is removed"
    # shellcheck disable=SC2086 # words of a command
    limited 120 nv unset interface eth0 $DHCP || fail "nv unset interface eth0 $DHCP failed"
}

# show_changes WHAT: asks for a confirmation where eth0 changes.
show_changes() {
    into diff 120 nv config diff || fail "nv config diff does not answer"
    facts effects "$run/diff" "$RESTARTS" || fail "the changes cannot be read"
    say "nv config diff, $1:"
    cat "$run/diff" 2>/dev/null
    asks=no
    while read -r setting; do
        case $setting in
        eth0) asks=yes ;;
        *) say "$setting changes: switchd restarts, and all ports go down and come back" ;;
        esac
    done <"$run/out"
    [ -z "$unattended" ] || asks=no
}

# A stage: it is applied on probation, checked, and confirmed.

load() {
    for stage in "$run"/new/*.yaml; do
        name=${stage##*/}
        patch "$stage"
        show_changes "$name"
        if differs diff; then
            apply_stage
        else
            say "$name: nothing changes"
            limited 60 nv config detach || fail "nv config detach failed"
        fi
    done
}

# The time is longer than this script waits. It has its unit: examples without one mean minutes.
apply_stage() {
    say "$name: nv config apply"
    phase=applied unbroken='nv config apply'
    limited 900 nv config apply --confirm "$((timeout / 60 + 20))m" -y && applied=0 || applied=$?
    unbroken=''
    case $applied in
    0) ;;
    124 | 137) fail "$name: nv config apply took longer than 900 s" ;;
    *) fail "$name: nv config apply failed (exit code $applied)" ;;
    esac
    waiting || fail "nv config revision does not answer"
    [ -n "$revision" ] || fail "$name: NVUE does not wait for a confirmation"
    into staged 120 nv config show -o commands || fail "nv config show does not answer"
    wait_for_switch
    limited 900 nv config apply "$revision" --confirm-yes || fail "$name: the confirmation failed"
    waiting || fail "nv config revision does not answer"
    [ -z "$revision" ] || fail "$name: NVUE still waits for a confirmation"
    into shown 120 nv config show -o commands || fail "nv config show does not answer"
    same staged || fail "$name: NVUE rolled it back before the confirmation"
}

# What must be true before a stage is confirmed, and what ends a run that went well.

# Whether the switch still lacks something, as $lacking.
lacks() {
    lacking='the switch does not answer'
    look "$run"/new/*.nv || return 0
    into now 60 python3 -I -S "$run/facts.py" lacking "$run/links" "$run/bgp" "$run/before" "$keep" "$run"/new/*.nv ||
        return 0
    read -r lacking <"$run/now"
    [ -z "$lacking" ] || return 0
    lacking='nobody confirmed the change of eth0'
    [ "$asks" = yes ] && [ ! -e "$run/confirmed" ]
}

wait_for_switch() {
    say "waiting up to $timeout s for ports and BGP sessions"
    if [ "$asks" = yes ]; then
        touch "$run/asked" || fail "$run cannot be written"
        say "eth0 changes: log in to its new address within $timeout s and run: sudo sh $PWD/apply.sh --confirm"
    fi
    until=$(($(date +%s) + timeout))
    while lacks; do
        [ "$(date +%s)" -lt "$until" ] || fail "after $timeout s: $lacking"
        limited 60 sleep 5
    done
    rm -f "$run/asked" "$run/confirmed"
}

keep_new() {
    limited 300 nv config save || fail "the new configuration cannot be saved"
    saved_too || fail "nv config save did not save the new configuration"
    trap : INT TERM
    phase=kept
    if [ -e "$run/now" ]; then
        while read -r line; do [ -z "$line" ] || say "$line"; done <"$run/now"
    fi
    say "done: saved for the next boot"
    say "the way back: sudo sh $PWD/apply.sh --restore $run/old"
}

restore_saved() {
    if [ -z "$from" ]; then
        for saved in "$SAVED"/*/old; do
            [ ! -e "$saved/complete" ] || from=$saved
        done
    fi
    [ -e "$from/complete" ] || refuse "no earlier run is saved in ${from:-$SAVED}"
    say "applying what was saved in $from"
    phase=applied
    restore "$from"
    say "restored the configuration from $from"
}

action=load timeout=600 keep='' unattended='' any_release='' any_model='' from=''
while [ $# -gt 0 ]; do
    case $1 in
    --check | --confirm) action=${1#--} ;;
    --timeout)
        timeout=${2-}
        [ $# -eq 1 ] || shift
        ;;
    --keep) keep=yes ;;
    --unattended) unattended=yes ;;
    --any-release) any_release=yes ;;
    --any-model) any_model=yes ;;
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
'' | *[!0-9]* | ??????*) usage >&2 && exit 2 ;;
esac
[ "$action" != confirm ] || confirm
begin
case $action in
restore) restore_saved ;;
check) check && preview ;;
load) check && save_old && load && keep_new ;;
esac
end
