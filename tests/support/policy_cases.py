"""Changes that would decide by themselves whether they pass: what a check has to make of each, as data.

The base is a build of four switches with its fabric.yaml, and the files of `base`. A change has the `fault`, and the
steps of `change`. `rules` are those of the findings and verdicts that must be errors or warnings; none where the change
passes. `says` are words that the message of `verdict` must have, which is of the severity `severity`.
"""

from dataclasses import dataclass
from typing import Literal

LEAF = "build/leaf1/config_db.json"
FRR = "build/leaf1/frr.conf"
SLOW = "site-watchdog-too-slow"
HOST, UPLINK, PATHS = "pfc-without-watchdog", "fabric-pfc-without-watchdog", "multipath-missing"
POLICY, MISSING = "policy-changed", "device-not-checked"


@dataclass(frozen=True)
class Write:
    """A file with this text."""

    path: str
    text: str


@dataclass(frozen=True)
class Edit:
    """A file in which a text is replaced."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Move:
    """A file or folder that lies elsewhere."""

    old: str
    new: str


@dataclass(frozen=True)
class Remove:
    """A file or folder that is gone."""

    path: str


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: str
    target: str


@dataclass(frozen=True)
class Drop:
    """Tables that a file of JSON no longer has."""

    path: str
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Copy:
    """A folder that lies elsewhere, too."""

    old: str
    new: str


Step = Write | Edit | Move | Remove | Link | Drop | Copy
Fault = Literal["", "host", "uplink", "paths", "slow"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One change, and what a check has to say of it."""

    name: str
    base: tuple[Step, ...] = ()
    fault: Fault = "host"
    change: tuple[Step, ...]
    code: int = 1
    rules: tuple[str, ...] = (HOST, POLICY)
    verdict: str = POLICY
    severity: Literal["error", "note", ""] = "error"
    says: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Further words of the command."""


def suppress(at: str = "'**'", until: str = "", rule: str = HOST) -> str:
    """Return a nodrop.yaml with one suppression."""
    return f"suppress:\n- {{rule: {rule}, at: {at}, reason: tried{until and f', until: {until}'}}}\n"


RULE = """severity: error
modes: [lossless, pfc-only]
scope: interface
when: interface.side == 'host' and interface.qos.pfc_watchdog.detection_ms
assert: interface.qos.pfc_watchdog.detection_ms <= options.most_ms
at: qos.pfc_watchdog.detection_ms
message: "{{ interface.name }} takes {{ interface.qos.pfc_watchdog.detection_ms | ms }}"
why: The site wants it so.
fix: set the time
options:
  most_ms: {default: 200, description: "the longest detection time, in ms"}
references: ["site handbook"]
since: "2026"
examples:
  bad:
    - model: {leaf1/*/qos/pfc_watchdog/detection_ms: 500}
      at: [leaf1/Ethernet0, leaf1/Ethernet8, leaf1/Ethernet16]
  good:
    - model: {leaf1/*/qos/pfc_watchdog/detection_ms: 400}
"""
OWN = (Write(f"rules/watchdog/{SLOW}.yaml", RULE), Write("nodrop.yaml", "rules: [rules]\n"))
BANDS = "about: ours\nwatchdog: [{side: hosts, detection: 100ms to 220ms, source: a decision}]\n"
ALLOW = f"! nodrop: allow[{PATHS}]: tried\n"
COMMENTED = Edit(FRR, "router bgp 4200100001\n", f"{ALLOW}router bgp 4200100001\n")
BASELINE = "version: 1\nfindings: {}\n"
MARK = "FINGERPRINT"
"""Stands in a baseline for what identifies the finding of the fault `host`."""
WHOLE = f"version: 1\nfindings:\n  {HOST}:\n    leaf1/Ethernet0: {MARK}\n"

CASES = (
    # What the trial did: the change brings the policy by which it passes.
    Case(name="exclude", change=(Write("nodrop.yaml", "exclude: [leaf1]\n"),), says=("leaf1", "exclude")),
    Case(name="exclude-all", change=(Write("nodrop.yaml", "exclude: ['*']\n"),), says=("leaf1", "spine2")),
    Case(name="severity-off", change=(Write("nodrop.yaml", f"severity: {{{HOST}: off}}\n"),), says=(HOST,)),
    Case(name="severity-note", change=(Write("nodrop.yaml", f"severity: {{{HOST}: note}}\n"),), says=(HOST,)),
    Case(name="fail-on-never", change=(Write("nodrop.yaml", "fail_on: never\n"),), says=(HOST, "fail_on")),
    Case(
        name="fail-on-never-in-pyproject",
        change=(Write("pyproject.toml", "[tool.nodrop]\nfail_on = 'never'\n"),),
        says=(HOST, "fail_on"),
    ),
    Case(name="suppress", change=(Write("nodrop.yaml", suppress()),), says=("leaf1/Ethernet0",)),
    Case(
        name="harmless",
        base=(Write("nodrop.yaml", "fail_on: unknown\n"),),
        fault="",
        change=(
            Edit(FRR, "router bgp 4200100001\n", "router bgp 4200100001\n bgp dampening\n"),
            Write("nodrop.yaml", "fail_on: unknown\nharmless:\n- {line: bgp dampening, reason: tried}\n"),
        ),
        rules=(POLICY,),
        says=("changes harmless", "1 unknown line would no longer fail"),
    ),
    Case(
        name="harmless-of-the-base",
        base=(Write("nodrop.yaml", "fail_on: unknown\nharmless:\n- {line: bgp dampening, reason: tried}\n"),),
        fault="",
        change=(Edit(FRR, "router bgp 4200100001\n", "router bgp 4200100001\n bgp dampening\n"),),
        code=0,
        rules=(),
        severity="",
    ),
    Case(
        name="baseline",
        change=(Write("nodrop.yaml", "baseline: known.yaml\n"), Write("known.yaml", WHOLE)),
        says=("leaf1/Ethernet0",),
    ),
    # The files that nodrop.yaml names, changed while it stays.
    Case(
        name="rule-deleted",
        base=(*OWN, Write("rules/watchdog/other-rule.yaml", RULE)),
        fault="slow",
        change=(Remove(f"rules/watchdog/{SLOW}.yaml"),),
        rules=(SLOW, "other-rule", POLICY),
        says=(SLOW,),
    ),
    Case(
        name="rule-weakened",
        base=OWN,
        fault="slow",
        change=(
            Edit(f"rules/watchdog/{SLOW}.yaml", "default: 200", "default: 299"),
            Edit(f"rules/watchdog/{SLOW}.yaml", "_ms: 500}", "_ms: 600}"),
        ),
        rules=(SLOW, POLICY),
        says=(SLOW,),
    ),
    Case(
        name="rule-made-a-note",
        base=OWN,
        fault="slow",
        change=(Edit(f"rules/watchdog/{SLOW}.yaml", "severity: error", "severity: note"),),
        rules=(SLOW, POLICY),
        says=(SLOW,),
    ),
    Case(
        name="rule-renamed-and-weakened",
        base=OWN,
        fault="slow",
        change=(
            Move(f"rules/watchdog/{SLOW}.yaml", "rules/watchdog/site-watchdog.yaml"),
            Edit("rules/watchdog/site-watchdog.yaml", "severity: error", "severity: note"),
        ),
        rules=(SLOW, POLICY),
        says=(SLOW,),
    ),
    Case(
        name="rules-left-out",
        base=OWN,
        fault="slow",
        change=(Write("nodrop.yaml", "fail_on: warning\n"),),
        rules=(SLOW, POLICY),
        says=(SLOW, "rules"),
    ),
    Case(
        name="option",
        base=OWN,
        fault="slow",
        change=(Write("nodrop.yaml", f"rules: [rules]\noptions: {{{SLOW}: {{most_ms: 900}}}}\n"),),
        rules=(SLOW, POLICY),
        says=(SLOW, "options"),
    ),
    Case(
        name="profile-widened",
        base=(Write("nodrop.yaml", "profile: bands.yaml\n"), Write("bands.yaml", BANDS)),
        fault="slow",
        change=(Edit("bands.yaml", "220ms", "900ms"),),
        rules=("watchdog-outside-profile", POLICY),
        says=("watchdog-outside-profile",),
    ),
    Case(
        name="profile-left-out",
        base=(Write("nodrop.yaml", "profile: bands.yaml\n"), Write("bands.yaml", BANDS)),
        fault="slow",
        change=(Write("nodrop.yaml", "fail_on: warning\n"),),
        rules=("watchdog-outside-profile", POLICY),
        says=("profile",),
    ),
    Case(
        name="baseline-longer",
        base=(Write("nodrop.yaml", "baseline: known.yaml\n"), Write("known.yaml", BASELINE)),
        change=(Write("known.yaml", WHOLE),),
        says=("known.yaml", "leaf1/Ethernet0"),
    ),
    # Where a nodrop.yaml lies, and what it is.
    Case(
        name="nearer-file",
        base=(Write("nodrop.yaml", "fail_on: note\n"),),
        change=(Write("build/nodrop.yaml", suppress()),),
        words=("build",),
    ),
    Case(
        name="nodrop-yaml-before-pyproject",
        base=(Write("pyproject.toml", "[tool.nodrop]\nfail_on = 'note'\n"),),
        change=(Write("nodrop.yaml", suppress()),),
    ),
    Case(
        name="table-taken-out",
        base=(
            Write(
                "pyproject.toml",
                f"[tool.nodrop.severity]\n{UPLINK} = 'error'\n[tool.nodrop]\nfail_on = 'error'\n",
            ),
        ),
        fault="uplink",
        change=(Write("pyproject.toml", "[project]\nname = 'x'\n[tool.nodrop]\nfail_on = 'error'\n"),),
        rules=(UPLINK, POLICY),
        says=(UPLINK, "severity"),
    ),
    Case(
        name="search-stopped-by-a-git-file",
        base=(Write("nodrop.yaml", f"severity: {{{UPLINK}: error}}\nfail_on: error\n"),),
        fault="uplink",
        change=(Write("build/.git/x", ""),),
        rules=(UPLINK,),
        severity="",
        words=("build",),
    ),
    Case(
        name="file-deleted",
        base=(Write("nodrop.yaml", f"severity: {{{UPLINK}: error}}\nfail_on: error\n"),),
        fault="uplink",
        change=(Write("nodrop.yaml", "fail_on: error\n"),),
        rules=(UPLINK, POLICY),
        says=(UPLINK,),
    ),
    Case(
        name="file-gone",
        base=(Write("nodrop.yaml", "strictness: auditor\nfail_on: note\n"),),
        change=(Remove("nodrop.yaml"),),
        rules=(HOST,),
        severity="note",
        says=("strictness", "fail_on"),
    ),
    Case(
        name="replaced-by-a-link",
        base=(Write("nodrop.yaml", "fail_on: note\n"), Write("lax.yaml", suppress())),
        change=(Remove("nodrop.yaml"), Link("nodrop.yaml", "lax.yaml")),
    ),
    Case(
        name="replaced-by-a-link-out-of-the-tree",
        base=(Write("nodrop.yaml", "fail_on: note\n"),),
        change=(Remove("nodrop.yaml"), Link("nodrop.yaml", "../../../../../../../../../etc/hostname")),
        code=2,
        rules=(HOST,),
        severity="",
    ),
    Case(
        name="broken-in-the-change",
        base=(Write("nodrop.yaml", "fail_on: note\n"),),
        change=(Write("nodrop.yaml", "suppres: []\n"),),
        code=2,
        rules=(HOST,),
        severity="",
    ),
    Case(
        name="broken-before", base=(Write("nodrop.yaml", "suppres: []\n"),), change=(Write("nodrop.yaml", suppress()),)
    ),
    Case(
        name="broken-before-and-mended",
        base=(Write("nodrop.yaml", "suppres: []\n"),),
        fault="",
        change=(Write("nodrop.yaml", suppress("leaf2/**")),),
        code=0,
        rules=(),
        severity="note",
    ),
    Case(
        name="suppression-wider",
        base=(Write("nodrop.yaml", suppress("leaf2/**")),),
        change=(Write("nodrop.yaml", suppress()),),
    ),
    Case(
        name="suppression-longer",
        base=(Write("nodrop.yaml", suppress(until="2020-01-01")),),
        change=(Write("nodrop.yaml", suppress(until="2999-01-01")),),
    ),
    Case(
        name="strictness-lowered",
        base=(
            Write("nodrop.yaml", "rules: [rules]\nstrictness: auditor\n"),
            Write(f"rules/watchdog/{SLOW}.yaml", f"strictness: auditor\n{RULE}"),
        ),
        fault="slow",
        change=(Edit("nodrop.yaml", "auditor", "regular"),),
        rules=(SLOW, POLICY),
        says=(SLOW, "strictness"),
    ),
    Case(
        name="severity-no-longer-raised",
        base=(Write("nodrop.yaml", f"severity: {{{UPLINK}: error}}\nfail_on: error\n"),),
        fault="uplink",
        change=(Edit("nodrop.yaml", f"{UPLINK}: error", f"{UPLINK}: warning"),),
        rules=(UPLINK, POLICY),
        says=(UPLINK,),
    ),
    # Comments in configurations and intents.
    Case(name="comment", fault="paths", change=(COMMENTED,), rules=(PATHS, POLICY), says=(PATHS,)),
    Case(name="comment-of-before", base=(COMMENTED,), fault="paths", change=(), code=0, rules=(), severity=""),
    Case(
        name="comment-moved",
        base=(Edit(FRR, "route-map FABRIC-OUT permit 10\n", f"{ALLOW}route-map FABRIC-OUT permit 10\n"),),
        fault="paths",
        change=(Edit(FRR, ALLOW, ""), COMMENTED),
        rules=(PATHS, POLICY),
    ),
    Case(
        name="comment-longer",
        base=(
            Edit(
                FRR,
                "router bgp 4200100001\n",
                f"! nodrop: allow[{PATHS}] until 2020-01-01: tried\nrouter bgp 4200100001\n",
            ),
        ),
        fault="paths",
        change=(Edit(FRR, "until 2020", "until 2999"),),
        rules=(PATHS, "expired-suppression", POLICY),
    ),
    Case(
        name="comment-of-another-rule",
        base=(
            Edit(FRR, "router bgp 4200100001\n", "! nodrop: allow[router-id-missing]: tried\nrouter bgp 4200100001\n"),
        ),
        fault="paths",
        change=(Edit(FRR, "allow[router-id-missing]", f"allow[router-id-missing, {PATHS}]"),),
        rules=(PATHS, POLICY),
    ),
    # fabric.yaml: what the owner wants of the fabric.
    Case(
        name="watchdog-off",
        change=(
            Edit(
                "build/fabric.yaml",
                "hosts: {priorities: [3], detection: 200ms, restoration: 400ms, action: drop}",
                "hosts: off",
            ),
        ),
        rules=(HOST,),
        severity="note",
        says=("fabric.yaml", "policy"),
    ),
    Case(
        name="fabric-watchdog-off",
        fault="uplink",
        change=(
            Edit(
                "build/fabric.yaml",
                "fabric: {priorities: [3], detection: 600ms, restoration: 1200ms, action: drop}",
                "fabric: off",
            ),
        ),
        rules=(UPLINK, POLICY),
        says=("fabric.yaml", "policy", UPLINK),
    ),
    Case(
        name="unwatched-roles",
        fault="uplink",
        change=(Edit("build/fabric.yaml", "  watchdog:\n", "  watchdog:\n    unwatched_roles: [leaf]\n"),),
        rules=(UPLINK, POLICY),
        says=("fabric.yaml", "policy", UPLINK),
    ),
    Case(
        name="role-changed",
        base=(Edit("build/fabric.yaml", "  watchdog:\n", "  watchdog:\n    unwatched_roles: [edge]\n"),),
        fault="uplink",
        change=(Edit("build/fabric.yaml", "leaf1: leaf", "leaf1: edge"),),
        rules=(UPLINK, POLICY),
        says=("fabric.yaml", "roles", UPLINK),
    ),
    Case(
        name="mode",
        change=(Edit("build/fabric.yaml", "mode: lossless", "mode: lossy"),),
        says=("fabric.yaml", "mode", HOST),
    ),
    Case(
        name="pool-smaller",
        fault="uplink",
        change=(Edit("build/fabric.yaml", "lossless_pool: 90%", "lossless_pool: 1%"),),
        rules=(UPLINK,),
        severity="note",
        says=("policy",),
    ),
    Case(
        name="nearer-fabric-yaml",
        change=(Write("build/leaf1/fabric.yaml", "mode: lossy\n"),),
        says=("leaf1/fabric.yaml", HOST),
    ),
    Case(
        name="mode-in-nodrop-yaml",
        base=(Remove("build/fabric.yaml"),),
        change=(Write("nodrop.yaml", "fabric: {mode: lossy}\n"),),
        says=("nodrop.yaml", "mode", HOST),
    ),
    Case(
        name="fabric-yaml-deleted",
        fault="",
        change=(Remove("build/fabric.yaml"),),
        code=0,
        rules=(),
        severity="note",
        says=("fabric.yaml",),
    ),
    # Switches that are not looked at any more.
    Case(
        name="patches-txt",
        change=(Write("build/leaf1/PATCHES.txt", "Patches of nodrop: none.\n"),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("leaf1", "PATCHES.txt"),
    ),
    Case(name="patches-txt-empty", change=(Write("build/leaf1/PATCHES.txt", ""),), rules=(HOST,), severity=""),
    Case(
        name="renamed-to-txt",
        change=(Move(LEAF, "build/leaf1/leaf1.txt"), Move(FRR, "build/leaf1/frr.txt")),
        rules=(HOST, MISSING),
        verdict=MISSING,
        says=("leaf1", "build/leaf1/frr.txt"),
    ),
    Case(
        name="moved-to-apply",
        change=(Move("build/leaf1", "build/apply"),),
        rules=(HOST, "name-unlike-file"),
        severity="",
    ),
    Case(name="moved-below-plan", change=(Move("build/leaf1", "build/plan/leaf1"),), rules=(HOST,), severity=""),
    Case(name="hidden-folder", change=(Move("build/leaf1", "build/.leaf1"),), rules=(HOST,), severity=""),
    Case(
        name="ignored-folder",
        change=(Move("build/leaf1", "build/.venv/leaf1"),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("build/.venv/leaf1/config_db.json", "virtual environment"),
    ),
    Case(name="hidden-deeper", change=(Move("build/leaf1", "build/.old/x/device"),), rules=(HOST,), severity=""),
    Case(
        name="ignored-deeper",
        change=(Move("build/leaf1", "build/node_modules/x/device"),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("build/node_modules/x/device/config_db.json",),
    ),
    Case(
        name="moved-where-the-base-excludes",
        base=(Write("nodrop.yaml", "exclude: [old]\n"),),
        change=(Move("build/leaf1", "build/old/leaf1"),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("build/old/leaf1/config_db.json", "exclude"),
    ),
    Case(
        name="one-file-hidden",
        fault="paths",
        change=(Move(FRR, "build/leaf1/.frr.conf"),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("leaf1 is no longer checked in part", "build/leaf1/.frr.conf"),
    ),
    Case(
        name="nodrop-yaml-leads-to-zeros",
        base=(Write("nodrop.yaml", "baseline: known.yaml\n"), Write("known.yaml", BASELINE)),
        change=(Remove("nodrop.yaml"), Link("nodrop.yaml", "/dev/zero"), Remove("known.yaml")),
        code=2,
        rules=(HOST,),
        severity="",
    ),
    Case(
        name="moved-out-of-the-paths",
        change=(Move("build/leaf1", "elsewhere/leaf1"),),
        words=("build",),
        rules=(MISSING,),
        verdict=MISSING,
        says=("elsewhere/leaf1/config_db.json", "named paths"),
    ),
    Case(
        name="named-folder-hidden",
        fault="",
        change=(Move("build", ".build"),),
        words=("build",),
        rules=(MISSING,),
        verdict=MISSING,
        says=(".build/spine2/config_db.json",),
    ),
    Case(
        name="moved-beside",
        fault="",
        change=(Move("build/leaf1", "build/row1/leaf1"),),
        code=0,
        rules=(),
        verdict=MISSING,
        severity="",
    ),
    Case(
        name="link-in-place",
        change=(Move("build/leaf1", "build/.venv/leaf1"), Link("build/leaf1", ".venv/leaf1")),
        rules=(MISSING,),
        verdict=MISSING,
        says=("build/leaf1", "link"),
    ),
    Case(
        name="link-in-place-out-of-the-tree",
        change=(Remove("build/leaf1"), Link("build/leaf1", "/nowhere")),
        rules=(MISSING,),
        verdict=MISSING,
        says=("build/leaf1", "link"),
    ),
    Case(
        name="other-case",
        change=(Move(LEAF, "build/leaf1/CONFIG_DB.JSON"), Remove(FRR)),
        rules=(HOST, MISSING),
        verdict=MISSING,
        says=("leaf1 is no longer checked in part",),
    ),
    Case(
        name="template",
        change=(Move(LEAF, "build/leaf1/config_db.json.j2"), Remove(FRR)),
        rules=(MISSING,),
        verdict=MISSING,
        says=("config_db.json.j2",),
    ),
    Case(name="emptied", change=(Write(LEAF, "\n"), Remove(FRR)), code=2, rules=(), verdict=MISSING, severity=""),
    Case(
        name="deleted",
        fault="",
        change=(Remove("build/leaf1"),),
        code=0,
        rules=(),
        verdict=MISSING,
        severity="note",
        says=("leaf1",),
    ),
    Case(
        name="another-under-its-name",
        fault="",
        change=(
            Copy("build/leaf1", "build/row1/leaf1"),
            Write("build/leaf1/PATCHES.txt", "Patches of nodrop: none.\n"),
        ),
        rules=(MISSING,),
        verdict=MISSING,
        says=("leaf1", "build/leaf1/config_db.json", "PATCHES.txt"),
    ),
    # Files that say less than before.
    Case(
        name="tables-gone",
        fault="",
        change=(Drop(LEAF, ("PFC_WD", "DEVICE_METADATA")),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("leaf1", "pfc_watchdog", "DEVICE_METADATA"),
    ),
    Case(
        name="file-of-routing-gone",
        fault="paths",
        change=(Remove(FRR),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("leaf1", "bgp", "frr.conf is gone"),
    ),
    Case(
        name="tables-gone-and-called-otherwise",
        fault="",
        change=(Drop(LEAF, ("PFC_WD", "DEVICE_METADATA")), Move("build/leaf1", "build/other")),
        rules=(MISSING, "name-unlike-file"),
        verdict=MISSING,
        says=("leaf1", "pfc_watchdog", "DEVICE_METADATA"),
    ),
    Case(
        name="unknown-before-too",
        base=(Drop(LEAF, ("DEVICE_METADATA",)), Remove(FRR)),
        fault="",
        change=(Drop(LEAF, ("PFC_WD",)),),
        rules=(MISSING,),
        verdict=MISSING,
        says=("PFC_WD",),
    ),
    # Switches that leave their fabric for one with another policy.
    Case(
        name="left-by-a-nearer-fabric-yaml-and-called-otherwise",
        change=(
            Write("build/leaf1/fabric.yaml", "mode: lossy\npolicy: {watchdog: {hosts: off, fabric: off}}\n"),
            Move("build/leaf1", "build/other"),
        ),
        rules=(HOST, "name-unlike-file", "pfc-in-lossy-fabric"),
        severity="",
    ),
    Case(
        name="left-without-its-cables",
        fault="",
        change=(
            Write("build/leaf1/fabric.yaml", "name: x\n"),
            Edit(FRR, "router bgp 4200100001\n", "router bgp 4200999999\n"),
        ),
        rules=("session-with-wrong-asn",),
        severity="note",
    ),
    Case(
        name="left-and-nothing-else",
        fault="",
        change=(Write("build/leaf1/fabric.yaml", "name: x\nmode: lossless\n"),),
        code=0,
        rules=(),
        severity="note",
    ),
    # What may change.
    Case(
        name="tightened",
        fault="",
        change=(Write("nodrop.yaml", "strictness: auditor\nfail_on: note\n"),),
        code=0,
        rules=(),
        severity="note",
        says=("strictness", "fail_on"),
    ),
    Case(
        name="only-a-comment",
        fault="",
        base=(Write("nodrop.yaml", "fail_on: error\n"),),
        change=(Write("nodrop.yaml", "# new\nfail_on: error\n"),),
        code=0,
        rules=(),
        severity="",
    ),
    Case(name="nothing-of-policy", change=(), rules=(HOST,), severity=""),
    Case(
        name="old-finding-suppressed",
        base=(Edit(FRR, "maximum-paths 32", "maximum-paths 1"),),
        fault="",
        change=(Write("nodrop.yaml", suppress(rule=PATHS)),),
        code=0,
        rules=(),
        severity="note",
        says=("suppress",),
    ),
    Case(
        name="suppression-of-before", base=(Write("nodrop.yaml", suppress()),), change=(), code=0, rules=(), severity=""
    ),
    Case(
        name="new-fabric",
        fault="",
        change=(Write("other/leaf7/config_db.json", "{}\n"), Write("other/fabric.yaml", "mode: lossy\n")),
        code=0,
        rules=(),
        severity="",
    ),
    Case(
        name="role-of-a-new-switch",
        fault="",
        change=(Edit("build/fabric.yaml", "  spine2: spine\n", "  spine2: spine\n  leaf9: leaf\n"),),
        code=0,
        rules=(),
        severity="",
    ),
    Case(
        name="named-file-wins",
        change=(Write("lax.yaml", suppress()),),
        words=("-c", "lax.yaml"),
        code=0,
        rules=(),
        severity="",
    ),
    Case(
        name="from-work",
        change=(Write("nodrop.yaml", suppress()),),
        words=("--config-from", "work"),
        code=0,
        rules=(),
        severity="note",
        says=("suppress",),
    ),
    Case(
        name="comment-from-work",
        fault="paths",
        change=(COMMENTED,),
        words=("--config-from", "work"),
        code=0,
        rules=(),
        severity="",
    ),
    Case(
        name="fabric-yaml-from-work",
        fault="uplink",
        change=(Edit("build/fabric.yaml", "  watchdog:\n", "  watchdog:\n    unwatched_roles: [leaf]\n"),),
        words=("--config-from", "work"),
        code=0,
        rules=(),
        severity="",
    ),
)
