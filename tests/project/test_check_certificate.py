"""`scripts/check_certificate.py` accepts what single packets prove, and nothing else."""

import hashlib
import importlib.util
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nodrop.model.index import Index
from nodrop.proofs.certificate import build_certificate
from nodrop.proofs.deadlock import check_deadlock
from nodrop.proofs.invariants import check_any_failure_conditions
from nodrop.routing import compute_control_plane
from support.certificate_mutants import (
    CHANGES,
    change_class,
    change_group,
    change_pauses,
    change_stops,
    mutant,
    rewrite,
)
from support.certificates import (
    Builder,
    Document,
    bridged_line,
    claimed,
    clos,
    clos_with_policies,
    flat,
    flooding_clos,
    host_map,
    is_proof,
    line,
    nested,
    pair,
    plain_map,
    plain_tunnel,
    pods,
    remapping_tunnel,
    ring,
    sealed,
)
from support.command import nodrop
from support.dual_tor import cured, dual_tor, with_random_tunnels
from support.flooding import clos_with_vlans, random_clos_with_vlans, with_random_vlans
from support.lossless_fabrics import with_random_qos
from support.places import ROOT
from support.random_routed import routed

SCRIPT = ROOT / "scripts/check_certificate.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_certificate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKER = loaded()

PRIORITIES_SWAPPED = plain_map(dscp=[None, None, None, 34, 26, *[None] * 11])
"""A map that writes the DSCP of class 4 into packets of class 3, and the other way around."""
KEEPS_NO_CLASS = plain_map(dscp=[None, None, None, 0, 0, *[None] * 11])
"""A map that writes a DSCP without pauses into all packets."""
UNKNOWN_MAP = plain_map(pauses={})
PROOFS: dict[str, Document] = {
    "ring": claimed(ring()),
    "ring, shortest ways": claimed(ring(clockwise=False)),
    "ring of three, shortest ways": claimed(ring(3, clockwise=False)),
    "ring, DSCPs swapped": claimed(ring(3, maps=[PRIORITIES_SWAPPED, host_map()])),
    "ring, DSCPs lost": claimed(ring(maps=[KEEPS_NO_CLASS, host_map()])),
    "ring, unknown maps": claimed(ring(maps=[UNKNOWN_MAP, host_map()])),
    "line": claimed(line()),
    "clos": claimed(clos()),
    "clos, any failures": claimed(clos(), "any"),
    "VRF, any failures": claimed(clos(3, suffix=" VRF red"), "any"),
    "policies, any failures": claimed(clos_with_policies(), "any"),
    "pods, any failures": claimed(pods(), "any"),
    "tunnels, one priority": claimed(pair()),
    "tunnels, priorities of their own": claimed(pair(remapping_tunnel, lossless=1)),
    "tunnels, both priorities of hosts": claimed(pair(remapping_tunnel)),
    "floods up": claimed(flooding_clos()),
    "floods up, one lossy cable": claimed(flooding_clos(lossy=("leaf0", "spine0"))),
    "floods up, three leaves": claimed(flooding_clos(3)),
    "floods along a line": claimed(bridged_line()),
    "floods along a line, routed back": claimed(bridged_line(back=True)),
}
FREE = {
    "floods up, one lossy cable",
    "floods along a line",
    "tunnels, priorities of their own",
    "tunnels, both priorities of hosts",
    "ring of three, shortest ways",
    "ring, DSCPs lost",
    "ring, unknown maps",
    "line",
    "clos",
    "clos, any failures",
    "VRF, any failures",
    "policies, any failures",
    "pods, any failures",
}


def verdict(document: Any, folder: Path, *options: str) -> int:
    path = folder / "certificate.json"
    path.write_text(document if isinstance(document, str) else json.dumps(nested(document)))
    result = CHECKER.main([*options, str(path)])
    assert isinstance(result, int)
    return result


@pytest.mark.parametrize("name", PROOFS)
def test_true_certificates_are_accepted(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = PROOFS[name]
    assert is_proof(document)
    assert document["claim"] == ("deadlock-free" if name in FREE else "deadlock-possible")
    assert verdict(document, tmp_path) == 0
    claim = (
        document["claim"]
        + {"none": "", "any": " after any failures", "listed": " with 0 failed ports"}[document["failures"]]
    )
    assert capsys.readouterr().out == (
        f"accepted: small is {claim}\n"
        f"{len(document['channels'])} channels, {len(document['destinations'])} destinations\n"
        "0 files, not compared\n"
        "assumption: Hosts do not pause.\n"
    )


def random_fabric(rng: random.Random) -> Document:
    """Return the certificate of a few switches with random cables, next hops and maps; packets may go in circles."""
    maps = [plain_map() for _ in range(3)]
    for _ in range(rng.randrange(4)):
        rng.choice([change_class, change_group, change_pauses, change_stops, rewrite])({"maps": maps}, rng)
    fabric = Builder(maps)
    names = [f"s{number}" for number in range(rng.randrange(3, 6))]
    for name in names:
        if rng.randrange(3):
            fabric.hosts(name, rng.randrange(3))
    for _ in range(rng.randrange(3, 9)):
        left, right = rng.sample(names, 2)
        fabric.cable(left, right, rng.randrange(3), rng.randrange(3))
    for _ in range(rng.randrange(8, 24) if fabric.destinations else 0):
        channel = rng.randrange(len(fabric.channels))
        fabric.send(str(fabric.channels[channel][0]), rng.randrange(len(fabric.destinations)), [channel])
    for _ in range(rng.choice([0, 0, 1, 2]) if fabric.destinations else 0):
        make, to = rng.choice([plain_tunnel, remapping_tunnel]), rng.randrange(len(fabric.destinations))
        fabric.tunnels.append(make(rng.choice(names), to, set(range(len(fabric.destinations)))))
    flood_at_random(fabric, names, rng)
    return claimed(fabric)


def flood_at_random(fabric: Builder, names: list[str], rng: random.Random) -> None:
    """Put some tables into a VLAN, with some of their cables; of these some join it at the other end."""
    tables = rng.sample(names, rng.choice([0, 0, 2, 3]))
    places = {name: place for place, name in enumerate(tables)}
    cables = [cable for cable in range(0, len(fabric.channels), 2) if rng.randrange(4)]
    for name in tables:
        members: list[tuple[int, int | None]] = []
        for cable in cables:
            for channel in (cable, cable + 1):
                start, _, end, *_ = fabric.channels[channel]
                if start == name:
                    members.append((channel, places.get(str(end))))
        homes = {number for number, home in enumerate(fabric.destinations) if home == name}
        fabric.flood(name, homes if rng.randrange(4) else set(), members)


INTENTS = sorted(path.stem for path in (ROOT / "intents").glob("*.yaml"))
SMALL = ("storage-vlan", "two-by-two", "unnumbered")


def proved(intent: str, folder: Path) -> Document:
    """Return the certificate that nodrop writes of a shipped intent."""
    path = folder / "proved.json"
    done = nodrop("prove", ROOT / f"intents/{intent}.yaml", "--certificate", path)
    assert done.code == 0
    return flat(json.loads(path.read_text()))


def assert_changed_ones_are_rejected(document: Document, seed: int, folder: Path) -> None:
    """Check that 20 changed certificates that prove their claim no more are rejected, and the others accepted."""
    rng, rejected = random.Random(seed), 0
    while rejected < 20:
        change, changed = mutant(document, rng)
        proof = is_proof(changed)
        assert verdict(changed, folder) == (0 if proof else 1), change
        rejected += not proof


@pytest.mark.parametrize("intent", SMALL)
def test_certificates_of_nodrop_are_accepted_and_changed_ones_rejected(intent: str, tmp_path: Path) -> None:
    document = proved(intent, tmp_path)
    assert is_proof(document)
    assert verdict(document, tmp_path) == 0
    assert_changed_ones_are_rejected(document, 4, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("intent", sorted({*INTENTS} - {*SMALL}))
def test_certificates_of_all_intents_are_accepted(intent: str, tmp_path: Path) -> None:
    assert verdict(proved(intent, tmp_path), tmp_path) == 0


@pytest.mark.parametrize(("fabric", "claim"), [(dual_tor(), "possible"), (dual_tor(2), "possible"), (cured(), "free")])
def test_certificates_of_nodrop_for_leaves_with_tunnels_are_accepted(fabric: Any, claim: str, tmp_path: Path) -> None:
    check = check_deadlock(compute_control_plane(Index(fabric)))
    document = flat(build_certificate(check, check_any_failure_conditions(check.traffic.forwarding), [], ()))
    assert (document["claim"], len(document["tunnels"])) == (f"deadlock-{claim}", 2 * (len(fabric.devices) - 3) // 2)
    assert is_proof(document)
    assert verdict(document, tmp_path) == 0
    assert_changed_ones_are_rejected(document, 5, tmp_path)


@pytest.mark.parametrize(
    ("fabric", "claim", "vlans"),
    [
        (clos_with_vlans(), "possible", 2),
        (clos_with_vlans(4, spines=1, members=("e1",), peers=4), "possible", 4),
        (clos_with_vlans(3, members=(), peers=2), "free", 2),
    ],
)
def test_certificates_of_nodrop_for_leaves_that_flood_are_accepted(
    fabric: Any, claim: str, vlans: int, tmp_path: Path
) -> None:
    check = check_deadlock(compute_control_plane(Index(fabric)))
    document = flat(build_certificate(check, check_any_failure_conditions(check.traffic.forwarding), [], ()))
    assert (document["claim"], len(document["floods"])) == (f"deadlock-{claim}", vlans)
    assert is_proof(document)
    assert verdict(document, tmp_path) == 0
    assert_changed_ones_are_rejected(document, 6, tmp_path)


def test_certificates_of_nodrop_for_random_fabrics_are_accepted(tmp_path: Path) -> None:
    claims, floods = Counter[tuple[str, bool]](), 0
    for seed in range(120):
        rng = random.Random(seed // 3)
        fabric = with_random_qos(routed(rng), rng)
        if seed % 3 == 1:
            fabric = with_random_tunnels(fabric, rng)
        elif seed % 3 == 2:
            fabric = random_clos_with_vlans(rng) if rng.randrange(2) else with_random_vlans(fabric, rng)
        check = check_deadlock(compute_control_plane(Index(fabric)))
        document = flat(build_certificate(check, check_any_failure_conditions(check.traffic.forwarding), [], ()))
        assert verdict(document, tmp_path) == 0, seed
        claims[document["claim"], bool(document["rests_on"])] += 1
        floods += bool(document["floods"])
    assert len(claims) > 2
    assert floods > 20


def test_certificates_of_random_fabrics_are_accepted(tmp_path: Path) -> None:
    rng, claims = random.Random(3), Counter[str]()
    for _ in range(200):
        document = random_fabric(rng)
        assert is_proof(document)
        assert verdict(document, tmp_path) == 0
        claims[document["claim"] if document["positions"] or document["cycle"] else "nobody waits"] += 1
    assert min(claims["deadlock-free"], claims["deadlock-possible"]) > 15


def changed_certificates_are_rejected(count: int, seed: int, folder: Path) -> set[str]:
    """Check changed certificates until this many no longer prove their claim; return the changes of these.

    Changes that leave a proof are accepted, and do not count.
    """
    rng, changes, rejected = random.Random(seed), set[str](), 0
    while rejected < count:
        document = PROOFS[rng.choice(sorted(PROOFS))] if rng.randrange(4) else random_fabric(rng)
        change, changed = mutant(document, rng)
        proof = is_proof(changed)
        assert verdict(changed, folder) == (0 if proof else 1), (change, changed)
        if not proof:
            rejected += 1
            changes.add(change)
    return changes


def test_changed_certificates_are_rejected(tmp_path: Path) -> None:
    assert len(changed_certificates_are_rejected(100, 1, tmp_path)) > 15


@pytest.mark.slow
def test_1000_changed_certificates_are_rejected(tmp_path: Path) -> None:
    assert changed_certificates_are_rejected(1000, 2, tmp_path) == {change.__name__ for change in CHANGES}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda d: d["positions"].pop(0),
            "has none, and depends on group 3 of leaf1 p4 (channel 5, from spine0 p5) with 16, by",
        ),
        (lambda d: d["positions"].append([0, 3, 9]), "positions: a buffer has two of them"),
        (lambda d: d["levels"].update(spine1=0), "levels: leaf0 and spine1 have a session and the same level"),
        (
            lambda d: d["session_kinds"][0].update(own_as=1),
            "leaf0 up to spine0: prefixes of others pass, and the listener",
        ),
        (lambda d: d["as_numbers"].update(spine1=7), "leaf0 up to spine0: prefixes from above pass, with paths that"),
        (
            lambda d: d.update(outer=1),
            "leaf0 up to spine0: a prefix with longer ones inside passes, which ends at leaf0",
        ),
        (lambda d: d["sessions"].pop(0), "sessions: spine0 announces to leaf0; expected a session in return"),
        (lambda d: d["channels"].append(d["channels"][0]), "channels: two of them have the same ends"),
        (lambda d: d["next_hops"]["leaf0"][0]["over"].append(3), "leaf0, row 0: channel 3 does not begin at the table"),
        (lambda d: d["next_hops"]["leaf0"][0].update(to=99), "next_hops, leaf0, row 0: set 99 does not exist"),
        (lambda d: d["sets"].append([[2, 9]]), "2 to 9 is no range of the 4 destinations"),
        (lambda d: d["failed"].append(["leaf0", "p0"]), "failed: expected nothing for this claim"),
        (lambda d: d["channels"][0].__setitem__(5, 9), "channels, 0: map 9 does not exist"),
    ],
)
def test_a_rejection_says_what_is_wrong(
    change: Any, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(json.dumps(PROOFS["clos, any failures"]))
    change(document)
    assert verdict(sealed(document), tmp_path) == 1
    assert reason in capsys.readouterr().out


def test_a_changed_document_needs_another_seal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(PROOFS["line"] | {"fabric": "other"}, tmp_path) == 1
    assert capsys.readouterr().out == "rejected: seal: the document was changed after it was sealed\n"


def test_next_hops_use_no_failed_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(sealed(PROOFS["ring"] | {"failed": [["r1", "p2"]]}), tmp_path) == 1
    assert capsys.readouterr().out == "rejected: next_hops, r1, row 0: channel 2 has a failed port\n"
    assert verdict(sealed(PROOFS["ring"] | {"failed": [["r9", "p2"]]}), tmp_path) == 0


def test_conditions_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [{"part": "leaf1/Ethernet0\x1b[2J", "missing": "which priorities it pauses"}]
    assert verdict(sealed(PROOFS["line"] | {"rests_on": facts}), tmp_path) == 0
    assert "unknown: leaf1/Ethernet0\\x1b[2J: which priorities it pauses\n" in capsys.readouterr().out


def test_files_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "leaf1.json").write_text("{}")
    file = {"path": "leaf1.json", "blake2b": hashlib.blake2b(b"{}", digest_size=16).hexdigest()}
    document = sealed(PROOFS["line"] | {"files": [file]})
    options = ("--files", str(folder))
    assert verdict(document, tmp_path, *options) == 0
    assert "1 files, with these digests\n" in capsys.readouterr().out
    (folder / "leaf1.json").write_text("{ }")
    assert verdict(document, tmp_path, *options) == 1
    assert capsys.readouterr().out == "rejected: files: leaf1.json has another digest\n"
    (tmp_path / "secret").write_text("{}")
    (folder / "link").symlink_to(tmp_path / "secret")
    for path in ("../secret", "/etc/passwd", "link", "missing", "", "a\0b"):
        assert verdict(sealed(document | {"files": [file | {"path": path}]}), tmp_path, *options) == 1


LINE = PROOFS["line"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"version": 1, "version": 1}',
        '{"version": NaN}',
        "9" * 5000,
        json.dumps(nested(LINE | {"version": 2})),
        json.dumps(nested(LINE | {"version": True})),
        json.dumps(nested(LINE | {"claim": "lossless"})),
        json.dumps(nested(LINE | {"failures": "listed"})),
        json.dumps(nested(LINE | {"comment": "checked"})),
        json.dumps(nested({key: value for key, value in LINE.items() if key != "outer"})),
        json.dumps(nested(LINE | {"outer": -1})),
        json.dumps(nested(LINE | {"outer": 0.5})),
        json.dumps(nested(LINE | {"positions": [[0, 3, True]]})),
        json.dumps(nested(LINE | {"positions": [[0, 3]]})),
        json.dumps(nested(LINE | {"channels": [["a", "b", "c", "d", 0, "0"]]})),
        json.dumps(nested(LINE | {"entries": [[0]]})),
        json.dumps(nested(LINE | {"maps": [plain_map(tc=[16] * 64)]})),
        json.dumps(nested(LINE | {"maps": [plain_map(dscp=[64] * 16)]})),
        json.dumps(nested(LINE | {"maps": [plain_map(pauses={"03": [3]})]})),
    ],
)
def test_other_documents_are_no_certificates(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(text, tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("no certificate: ")
    assert printed.err.count("\n") == 1


def test_work_is_limited_by_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(CHECKER, "FEWEST_STEPS", 0)
    monkeypatch.setattr(CHECKER, "STEPS_PER_BYTE", 0.01)
    assert verdict(PROOFS["pods, any failures"], tmp_path) == 2
    assert capsys.readouterr().err == "no certificate: the check needs too much work for a certificate of this size\n"


def test_the_script_needs_nothing_but_python(tmp_path: Path) -> None:
    (tmp_path / "ring.json").write_text(json.dumps(nested(PROOFS["ring"])))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, expected in (("ring.json", 0), ("binary", 2), ("missing", 2), (".", 2)):
        command = [sys.executable, "-I", "-S", str(SCRIPT), str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (expected, False)
