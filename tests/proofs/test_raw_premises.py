"""Premises of certificates equal what another parser and another computation find in the raw files of builds."""

import json
from collections import defaultdict
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from nodrop.resources import resource_folder
from support.command import built, nodrop
from support.raw_premises import Hop, Prefix, Qos, RawBuild

NAMES = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))


def premises_of(folder: Path) -> Any:
    nodrop("prove", str(folder), "--certificate", "certificate.json", "--fail-on", "never")
    return json.loads(Path("certificate.json").read_text())


class Stated:
    """The premises of a certificate in the terms of raw files."""

    def __init__(self, document: Any) -> None:
        self.premises = document["premises"]
        self.destinations = [list(map(ip_network, prefixes)) for prefixes in self.premises["destinations"]]
        self.own = {table: self.prefixes(place) for table, place in self.premises["ends"].items()}

    def prefixes(self, place: int) -> set[Prefix]:
        ranges = self.premises["sets"][place]
        return {prefix for low, high in ranges for one in self.destinations[low : high + 1] for prefix in one}

    def next_hops(self) -> dict[Prefix, dict[str, set[Hop]]]:
        found: dict[Prefix, dict[str, set[Hop]]] = defaultdict(lambda: defaultdict(set))
        for table, rows in self.premises["next_hops"].items():
            for row in rows:
                for prefix in self.prefixes(row["to"]) - self.own.get(table, set()):
                    for channel in row["over"]:
                        near, port, far, far_port, *_ = self.premises["channels"][channel]
                        assert near == table
                        found[prefix][table].add((port, far, far_port))
        return found


def behavior(stated: Any) -> Qos:
    pauses = {int(group): set(priorities) for group, priorities in stated["pauses"].items()}
    stops = {int(priority): queue for priority, queue in stated["stops"].items()}
    return Qos(stated["tc"], stated["group"][:8], stated["queue"][:8], pauses, stops)


def paused(qos: Qos) -> list[set[int]]:
    """The priorities that packets of each DSCP make a port pause."""
    return [qos.pauses.get(qos.group[tc], set()) for tc in qos.tc]


def test_there_are_twenty_builds() -> None:
    assert len(NAMES) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_premises_are_those_of_the_raw_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built(str(resource_folder("intents") / f"{name}.yaml"), "build")
    raw, document = RawBuild(Path("build")), premises_of(Path("build"))
    stated, premises = Stated(document), document["premises"]
    assert document["rests_on"] == []
    assert {prefix for prefixes in stated.destinations for prefix in prefixes} == raw.destinations
    assert set(premises["entries"]) == raw.entries
    found = stated.next_hops()
    for prefix in raw.destinations:
        expected = {table: hops for table, hops in raw.next_hops(prefix).items() if hops}
        assert found[prefix] == expected, prefix
    for near, port, far, far_port, left, entered in premises["channels"]:
        assert raw.far[near, port] == (far, far_port)
        out, into = behavior(premises["maps"][left]), behavior(premises["maps"][entered])
        sends, takes = raw.switches[near].qos[port], raw.switches[far].qos[far_port]
        assert (out.queue, out.stops) == (sends.queue, sends.stops)
        assert (into.tc, paused(into)) == (takes.tc, paused(takes))
    assert not any(dscp is not None for one in premises["maps"] for dscp in one["dscp"])
    check_sessions(raw, stated)


def check_sessions(raw: RawBuild, stated: Stated) -> None:
    """Compare what each session lets through, in both directions."""
    premises = stated.premises
    found: dict[tuple[str, str], set[Prefix]] = defaultdict(set)
    for announcer, listener, kind in premises["sessions"]:
        facts = premises["session_kinds"][kind]
        assert (facts["keeps_path"], facts["own_as"]) == (True, 0)
        found[announcer, listener] |= raw.destinations if facts["passes"] is None else stated.prefixes(facts["passes"])
    expected: dict[tuple[str, str], set[Prefix]] = defaultdict(set)
    for listener in raw.switches.values():
        for version in (4, 6):
            for hop in raw.hops(listener, version):
                announcer = raw.switches[hop[1]]
                expected[announcer.name, listener.name] |= {
                    prefix
                    for prefix in raw.destinations
                    if prefix.version == version and raw.passes(announcer, listener, hop, prefix)
                }
    assert found == expected
    assert premises["as_numbers"] == {name: switch.asn for name, switch in raw.switches.items()}
