"""A SONiC switch as far as apply.sh sees it: its files, and programs in a PATH that stand in for its own.

Every program that apply.sh calls is a stand-in (`apply_runs.py`). What `config reload` does follows sonic-utilities
config/main.py, db_migrator.py, and docker_init.sh of sonic-buildimage: db_migrator may set the routing mode, and the
bgp container keeps frr.conf in split-unified alone. In unified it writes one of the tables.
"""

import json
import shutil
from pathlib import Path

from nodrop.platforms.kit.artifact import Artifact
from support.apply_runs import Run, install, start

ADDED = "no fpm use-next-hop-groups\nfpm address 127.0.0.1\n"
"""What the bgp container adds to frr.conf."""
KEPT = ("config_db.json", "frr/frr.conf")
"""The two files of the switch, below /etc/sonic."""
SWITCH_PROGRAMS = ("config", "show", "sonic-cfggen", "sonic-db-cli", "vtysh", "systemctl", "env", "python3", "sleep")
"""What runs under a time limit."""
_OTHERS = (
    "cat", "chmod", "cmp", "cp", "date", "dirname", "flock", "id", "mkdir", "mv", "rm", "sync", "tail", "timeout",
    "touch", "wc",
)  # fmt: skip

_FUNCTIONS = r"""container_starts() {
    mode=$(sed -n 's/.*"docker_routing_config_mode": "\([^"]*\)".*/\1/p' "$STATE/db.json")
    if [ "$mode" = split-unified ]; then
        rm -f "$SONIC/frr/bgpd.conf"
        [ ! -e "$SONIC/frr/frr.conf" ] || grep -q '^no fpm use-next-hop-groups' "$SONIC/frr/frr.conf" ||
            printf 'no fpm use-next-hop-groups\nfpm address 127.0.0.1\n' >>"$SONIC/frr/frr.conf"
    elif [ "$mode" = unified ]; then
        rm -f "$SONIC/frr/bgpd.conf"
        python3 -c 'import json, sys
for key, row in json.load(sys.stdin).get("BGP_NEIGHBOR", {}).items():
    print("neighbor", key.partition("|")[2], "remote-as", row["asn"])' <"$STATE/db.json" >"$SONIC/frr/frr.conf"
    else
        rm -f "$SONIC/frr/frr.conf"
        echo 'router bgp 65000' >"$SONIC/frr/bgpd.conf"
    fi
    rm -f "$STATE/started"
    [ ! -e "$SONIC/frr/frr.conf" ] || cp "$SONIC/frr/frr.conf" "$STATE/started"
    awk '$1 == "neighbor" && $3 == "remote-as" { print $2 }' "$SONIC"/frr/*.conf >"$STATE/peers"
}
"""
_CASES = r"""systemctl) cat "$STATE/target" ;;
sonic-db-cli) sed -n "s/.*\"$4\": \"\([^\"]*\)\".*/\1/p" "$STATE/db.json" ;;
sonic-cfggen)
    case $1 in
    -H) echo "$PLATFORM" ;;
    -k) cat "$STATE/hwsku.json" ;;
    -j) python3 -m json.tool "$2" ;;
    esac
    ;;
vtysh)
    case $1 in
    -C) ! grep -n '^nonsense' "$3" ;;
    -c)
        [ ! -e "$STATE/no-bgpd" ] || exit 1
        comma=''
        echo '{"default": {"ipv4Unicast": {"peers": {'
        while read -r peer; do
            state=Active
            grep -qxF "$peer" "$STATE/down" || state=Established
            printf '%s"%s": {"state": "%s"}' "$comma" "$peer" "$state"
            comma=,
        done <"$STATE/peers"
        echo '}}}}'
        ;;
    esac
    ;;
show)
    row='%11s  %15s  %7s  %5s  %5s  %9s  %6s  %6s  %7s  %11s  %8s\n'
    printf "$row" Interface Lanes Speed MTU FEC Alias Vlan Oper Admin Type 'Asym PFC'
    printf "$row" ----------- --------------- ------- ----- ----- --------- ------ ------ ------- ----------- --------
    while read -r port; do
        oper=up
        ! grep -qxF "$port" "$STATE/down" || oper=down
        printf "$row" "$port" 0,1,2,3 400G 9216 rs 'etp 1 / 2' routed "$oper" up 'QSFP-DD DAC' off
    done <"$STATE/ports"
    ;;
config)
    case $* in
    'save -y') target=$SONIC/config_db.json ;;
    'save -y '*) target=$3 ;;
    'reload -y -f /dev/stdin') file=/dev/stdin ;;
    'reload -y '*) file=$3 ;;
    esac
    if [ "$1" = save ]; then
        [ -z "$half" ] || { head -c 100 "$STATE/db.json" >"$target"; exit 1; }
        exec cp "$STATE/db.json" "$target"
    fi
    [ ! -e "$STATE/no-way-back" ] || [ "$file" != /dev/stdin ] || exit 1
    [ ! -e "$STATE/invalid" ] || { [ "$file" = /dev/stdin ] || { echo 'fails YANG validation'; exit 1; }; }
    date +%N%s >"$STATE/target"
    echo 'Stopping SONiC target ...'
    [ -z "$half" ] || { echo '{}' >"$STATE/db.json"; rm -f "$SONIC/frr/frr.conf"; exit 1; }
    cat "$file" >"$STATE/db.json"
    [ ! -e "$STATE/migrated" ] || sed -i 's/"split-unified"/"separated"/; s/"unified"/"separated"/' "$STATE/db.json"
    [ ! -e "$STATE/down-after" ] || cp "$STATE/down-after" "$STATE/down"
    container_starts
    ;;
cp)
    for target; do :; done
    [ -z "$half" ] || { head -c 100 "$2" >"$target" 2>/dev/null; exit 1; }
    exec cp "$@"
    ;;
"""


class SonicSwitch:
    """A switch that runs an earlier configuration in split-unified, or a fresh one in separated."""

    def __init__(self, folder: Path, artifacts: tuple[Artifact, ...], *, fresh: bool = False) -> None:
        """Set the switch up, and copy the files of a build to it."""
        self._folder = folder
        self.sonic, self.state, self.build = folder / "sonic", folder / "state", folder / "leaf1"
        for one in (self.sonic / "frr", self.state):
            one.mkdir(parents=True)
        self.copy(artifacts)
        self.config = json.loads((self.build / "config_db.json").read_text())
        local = self.config["DEVICE_METADATA"]["localhost"]
        (folder / "devices" / local["platform"] / local["hwsku"]).mkdir(parents=True)
        self.platform = local["platform"]
        self._was(fresh)
        install(folder / "bin", (*SWITCH_PROGRAMS, *_OTHERS), _FUNCTIONS, _CASES)

    def copy(self, artifacts: tuple[Artifact, ...]) -> None:
        """Copy the files of a build to the switch, in place of those that are there."""
        shutil.rmtree(self.build, ignore_errors=True)
        for artifact in artifacts:
            path = self.build / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(artifact.text)
        script = self.build / "apply" / "apply.sh"
        text = script.read_text()
        devices = self._folder / "devices"
        for name, value in (("SONIC=/etc/sonic", self.sonic), ("DEVICES=/usr/share/sonic/device", devices)):
            assert text.count(f"\n{name}\n") == 1
            text = text.replace(f"\n{name}\n", f"\n{name.partition('=')[0]}={value}\n")
        script.write_text(text)

    def _was(self, fresh: bool) -> None:
        """Set what the switch has before: its files, its database, and what is up."""
        ports = self.config["PORT"]
        text = (self.build / "frr.conf").read_text()
        earlier = {**self.config, "NTP_SERVER": {"192.0.2.1": {}}}
        metadata = dict(self.config["DEVICE_METADATA"]["localhost"])
        if fresh:
            metadata["docker_routing_config_mode"] = "separated"
        earlier["DEVICE_METADATA"] = {"localhost": metadata}
        (self.sonic / "config_db.json").write_text(json.dumps(earlier, indent=2))
        earlier["SYSLOG_SERVER"] = {"192.0.2.2": {}}  # changed since the last `config save`
        (self.state / "db.json").write_text(json.dumps(earlier, indent=4))
        if fresh:
            (self.sonic / "frr" / "bgpd.conf").write_text("router bgp 65000\n")
        else:
            (self.sonic / "frr" / "frr.conf").write_text(text.replace("datacenter", "traditional") + ADDED)
        (self.sonic / "frr" / "vtysh.conf").write_text("service integrated-vtysh-config\n")
        (self.sonic / "sonic_version.yml").write_text("build_version: 'SONiC.202505.1-a'\nrelease: 'none'\n")
        (self.state / "ports").write_text("".join(f"{name}\n" for name in ports))
        named = [words[1] for words in map(str.split, text.splitlines()) if words[2:3] == ["remote-as"]]
        self.sessions = [] if fresh else named
        (self.state / "peers").write_text("".join(f"{name}\n" for name in self.sessions))
        (self.state / "down").write_text("Ethernet0\n")
        (self.state / "target").write_text("ActiveState=active\n")
        (self.state / "hwsku.json").write_text(json.dumps({"PORT": ports}))
        (self.state / "count").touch()
        (self.state / "calls").touch()

    def set(self, name: str, text: str = "") -> None:
        """Set a fact of the switch.

        `invalid`: the new configuration fails YANG; `migrated`: db_migrator sets the routing mode; `no-bgpd`: bgpd does
        not answer; `down`: ports and sessions that are down, `down-after` those after loading; `no-way-back`:
        `config reload` fails for what was there before.
        """
        (self.state / name).write_text(text)

    def files(self) -> dict[str, bytes | None]:
        """Return the two files; None for one that does not exist."""
        paths = {name: self.sonic / name for name in KEPT}
        return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}

    def started_with(self) -> bytes | None:
        """Return the frr.conf with which the bgp container started last; None if there was none."""
        path = self.state / "started"
        return path.read_bytes() if path.exists() else None

    def database(self) -> object:
        """Return CONFIG_DB."""
        return json.loads((self.state / "db.json").read_text())

    def apply(
        self,
        *options: str,
        at: int = 0,
        how: str = "",
        run: int = 1,
        user: int = 0,
        shell: str = "/bin/sh",
        closed: bool = False,
    ) -> Run:
        """Run apply.sh; call number `at` of its programs does `how`: fail, half, hang, INT or TERM.

        `closed` closes its standard output and error, as the end of a terminal does.
        """
        command = [shell, str(self.build / "apply" / "apply.sh"), *options]
        facts = {"SONIC": str(self.sonic), "PLATFORM": self.platform}
        done = start(command, self._folder, facts, at=at, how=how, run=run, user=user, closed=closed)
        calls = self._shortened((self.state / "calls").read_text(), run)
        said, error = self._shortened(done.stdout, run), self._shortened(done.stderr, run)
        return Run(done.returncode, said, error, tuple(line.rstrip() for line in calls.splitlines()))

    def _shortened(self, text: str, run: int) -> str:
        text = text.replace(f"{self.sonic}/nodrop/20261123-{run}", "RUN")
        return text.replace(str(self.sonic), "/etc/sonic").replace(f"{self._folder}/", "")
