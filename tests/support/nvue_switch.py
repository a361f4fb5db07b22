"""A Cumulus Linux switch as far as apply.sh sees it: NVUE with its revisions, ports and sessions.

Every program that apply.sh calls is a stand-in (`apply_runs.py`). A revision is a file of `nv set` lines: the one that
is applied, the pending one, the startup file, and the one before a change that waits for its confirmation.
"""

from collections.abc import Iterable
from pathlib import Path

from nodrop.platforms.kit.artifact import Artifact
from support.apply_runs import Run, install, start

SWITCH_PROGRAMS = ("nv", "ip", "vtysh", "decode-syseeprom", "python3", "sleep")
"""What runs under a time limit."""
_OTHERS = (
    "cat", "cp", "date", "dirname", "flock", "grep", "id", "mkdir", "rm", "sed", "sync", "tail", "timeout", "touch",
)  # fmt: skip

_FUNCTIONS = r"""export LC_ALL=C
cd_switch() { cd "$STATE" || exit 1; }

# The differences as YAML, a key a line.
differences() {
    comm -13 "$1" "$2" | sed 's/^nv set /set /' >lines
    comm -23 "$1" "$2" | sed 's/^nv set /unset /' >>lines
    awk '{ print "- " $1 ":"; for (i = 2; i <= NF; i++) { printf "%*s", i * 2, ""; print $i ":" } }' lines
}

settle() {
    sort -u "$1" >sorted
    mv sorted "$2"
    rm -f pending
}
"""
_CASES = r"""nv)
    case $* in
    'config patch '*)
        [ -e "$STATE/pending" ] || cp "$STATE/applied" "$STATE/pending"
        cat "${3%.yaml}.nv" >>"$STATE/pending"
        [ -z "$half" ] || exit 1
        exit
        ;;
    'config replace '*) exec cp "$3" "$STATE/pending" ;;
    esac
    cd_switch
    case $* in
    'config diff') [ ! -e pending ] || { sort -u pending >sorted; differences applied sorted; } ;;
    'config diff applied startup') differences applied startup ;;
    'unset '*)
        shift
        [ -e pending ] || cp applied pending
        grep -vF "nv set $*" pending >left
        mv left pending
        ;;
    'config apply --confirm '*)
        [ ! -e refused ] || { echo 'Invalid config'; exit 1; }
        cp applied before
        settle pending applied
        echo 7 >waiting
        [ ! -e down-after ] || cp down-after down
        [ -z "$half" ] || exit 1
        ;;
    'config apply '*' --confirm-yes')
        if [ -e expired ]; then
            mv before applied
        else
            cp applied startup
        fi
        rm -f waiting
        [ -z "$half" ] || exit 1
        ;;
    'config apply '*' --confirm-no')
        [ -e waiting ] && [ ! -e no-rollback ] || exit 1
        mv before applied
        rm -f waiting
        ;;
    'config apply -y')
        [ ! -e no-way-back ] || exit 1
        settle pending applied
        cp applied startup
        rm -f waiting
        ;;
    'config detach') rm -f pending ;;
    'config save') cp applied startup ;;
    'config show -o commands') cat applied ;;
    'config revision -o json')
        printf '{"1": {"state": "applied_and_saved"}'
        [ ! -e waiting ] || printf ', "%s": {"state": "confirm"}' "$(cat waiting)"
        echo '}'
        ;;
    *) echo "nv: $*: unknown" >&2; exit 2 ;;
    esac
    ;;
ip)
    cd_switch
    comma='['
    for port in $(cat ports; ! grep -q ' link breakout ' applied || [ -e no-parts ] || cat parts); do
        state=$(grep -qx "$port" down && echo DOWN || echo UP)
        printf '%s{"ifname": "%s", "operstate": "%s"}' "$comma" "$port" "$state"
        comma=', '
    done
    echo ']'
    ;;
vtysh)
    cd_switch
    [ ! -e no-bgpd ] || exit 1
    comma='{"default": {"ipv4Unicast": {"peers": {'
    for peer in $(sed -n 's/^nv set vrf default router bgp neighbor \([^ ]*\) remote-as .*/\1/p' applied); do
        state=$(grep -qx "$peer" down && echo Active || echo Established)
        printf '%s"%s": {"state": "%s"}' "$comma" "$peer" "$state"
        comma=', '
    done
    echo '}}}}'
    ;;
decode-syseeprom)
    [ -n "$PRODUCT" ] || exit 1
    echo "{\"tlv\": {\"Product Name\": {\"value\": \"$PRODUCT\"}}}"
    ;;
"""


class NvueSwitch:
    """A switch as it comes from the factory, or one that runs an earlier build."""

    def __init__(self, folder: Path, artifacts: Iterable[Artifact], factory: str, *, fresh: bool = True) -> None:
        """Set the switch up, and copy the stages of a build to it; `factory` are its `nv set` lines."""
        self._folder = folder
        self.state, self.stages, self.saved = folder / "state", folder / "apply", folder / "saved"
        for one in (self.state, self.stages):
            one.mkdir(parents=True)
        for artifact in artifacts:
            if artifact.path.startswith("apply/"):
                (folder / artifact.path).write_text(artifact.text)
        script = self.stages / "apply.sh"
        text = script.read_text()
        for name, own in (
            ("SAVED=/var/lib/nodrop", self.saved),
            ("STARTUP=/etc/nvue.d/startup.yaml", self.state / "startup"),
            ("RELEASE_FILE=/etc/lsb-release", self.state / "lsb-release"),
        ):
            assert text.count(f"\n{name}\n") == 1
            text = text.replace(f"\n{name}\n", f"\n{name.partition('=')[0]}={own}\n")
        script.write_text(text)
        stated = [line for stage in sorted(self.stages.glob("*.nv")) for line in stage.read_text().splitlines()]
        earlier = factory.splitlines() if fresh else [*stated, *factory.splitlines()]
        if not fresh:
            earlier = [line for line in earlier if " eth0 " not in line or "DHCP" in line or line in stated]
            earlier = [line for line in earlier if "system hostname" not in line]
        self.set("applied", "".join(f"{line}\n" for line in sorted({*earlier})))
        self.set("startup", (self.state / "applied").read_text())
        self.set("ports", "".join(f"swp{number}\n" for number in range(1, 9)))
        self.set("parts", "swp1s0\nswp1s1\n")
        self.set("down", "swp8\n")
        self.set("lsb-release", 'DISTRIB_ID="Cumulus Linux"\nDISTRIB_RELEASE=5.14.0\n')
        install(folder / "bin", (*SWITCH_PROGRAMS, *_OTHERS), _FUNCTIONS, _CASES)

    def set(self, name: str, text: str = "") -> None:
        """Set a fact of the switch.

        `refused`: NVUE refuses the revision; `expired`: the confirmation comes too late; `no-parts`: the parts of ports
        do not come; `no-rollback`: `--confirm-no` fails; `no-way-back`: an apply without a confirmation fails;
        `no-bgpd`: bgpd does not answer; `down`: what is down, `down-after` from the first stage on.
        """
        (self.state / name).write_text(text)

    def get(self, name: str) -> str:
        """Return a revision: `applied`, or `startup`."""
        return (self.state / name).read_text()

    def configuration(self) -> tuple[str, str, bool, bool]:
        """Return what is applied, what is saved, and whether anything is pending or waits for a confirmation."""
        left = [(self.state / name).exists() for name in ("pending", "waiting")]
        return self.get("applied"), self.get("startup"), left[0], left[1]

    def apply(
        self,
        *options: str,
        at: int = 0,
        how: str = "",
        run: int = 1,
        user: int = 0,
        shell: str = "/bin/sh",
        closed: bool = False,
        product: str = "MSN4700",
    ) -> Run:
        """Run apply.sh; call number `at` of its programs does `how`: fail, half, hang, INT or TERM."""
        command = [shell, str(self.stages / "apply.sh"), *options]
        facts = {"PRODUCT": product}
        done = start(command, self._folder, facts, at=at, how=how, run=run, user=user, closed=closed)
        calls = self._shortened((self.state / "calls").read_text(), run)
        said, error = self._shortened(done.stdout, run), self._shortened(done.stderr, run)
        return Run(done.returncode, said, error, tuple(line.rstrip() for line in calls.splitlines()))

    def _shortened(self, text: str, run: int) -> str:
        text = text.replace(f"{self.saved}/20261123-{run}", "RUN").replace(str(self.saved), "/var/lib/nodrop")
        return text.replace(str(self.state / "startup"), "STARTUP").replace(f"{self._folder}/", "")
