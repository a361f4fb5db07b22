"""What tests do inside a twin, and bring out of it: functions that `box.call` finds by name."""

import time

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.platforms import frr
from nodrop.platforms.kit.running import runs
from nodrop.routing.prefixes import prefix
from nodrop.validating import compute_observation
from nodrop.validating.twin import acts, breaking
from nodrop.validating.twin.box import Tell
from nodrop.validating.twin.breaking import Breaking, Patience
from nodrop.validating.twin.crossing import crossings
from nodrop.validating.twin.daemons import Boot
from nodrop.validating.twin.hosts import settle_hosts
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.packets import Posts
from nodrop.validating.twin.plan import Space
from nodrop.validating.twin.reaching import Item, Reaching
from nodrop.validating.twin.waiting import settle
from nodrop.validating.twin.work import Options, Work


def work(fabric: Fabric) -> Work:
    """A fabric that starts with the frr.conf that its model is."""
    boots = {
        device.name: Boot(text=frr.write(device), daemons=runs(device.platform).daemons, profile="datacenter")
        for device in fabric.devices
    }
    seen = compute_observation(Index(fabric)).seen
    return Work(fabric=fabric, boots=boots, without={}, computed=seen, options=Options())


def running(of: Work) -> Lab:
    """The twin, once it has settled."""
    lab = Lab(of.fabric, of.boots)
    lab.start()
    settle(lab, of.expected_sessions, patience_s=60)
    settle_hosts(lab)
    return lab


def cross(tell: Tell, fabric: Fabric, sizes: dict[tuple[str, str], int]) -> dict[str, tuple[bool, str]]:
    """How packets cross the cables of a fabric without daemons, in which some ports have another MTU."""
    lab = Lab(fabric, {})
    lab.start()
    for (node, port), size in sizes.items():
        lab.ip(node, "link", "set", port, "mtu", str(size))
    time.sleep(0.5)
    found = crossings(Posts(lab.plan), lab.plan)
    return {f"{link.a}--{link.b}": (one.crosses, one.said) for link, one in found.items()}


def reach(
    tell: Tell, of: Work, source: str, to: str, steps: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str | None, str], ...]:
    """How packets from a device fare to a prefix, at first and after each step: a node and what `ip` does there."""
    lab = running(of)
    hosts = [host.name for host in of.fabric.hosts]
    aim = prefix(to)
    assert aim is not None
    found, sockets = [], Posts(lab.plan)
    for step in ((), *steps):
        if step:
            lab.ip(*step)
        item = Item(Space(source), aim)
        found.append(tuple(Reaching(sockets, lab.plan, hosts).of([item])[item]))
    return tuple(found)


def fail(tell: Tell, of: Work, what: str, mended_s: float) -> tuple[frozenset[tuple[str, str]], str, str]:
    """What a failure loses, the words for it, and what is not as before so long after it is mended; 0: it never is."""
    lab = running(of)
    wanted = {(Space(item[0]), prefix(item[3])): ("nobody",) for item in of.computed["reach"]}
    if not mended_s:
        lab.mend = lambda *ends: None  # type: ignore[method-assign]
    acting = Breaking(lab, Posts(lab.plan), wanted, Patience(10, mended_s))  # type: ignore[arg-type]
    broken = acting.break_(what)
    return broken.lost, broken.said, acting.mend(what)


def timers(tell: Tell, of: Work) -> tuple[float, float]:
    """How long failures and repairs are waited for."""
    return tuple(breaking.patience(running(of)))


def act(tell: Tell, of: Work) -> tuple[dict[str, object], list[str]]:
    """All acts; what they see, and what they tell."""
    part = acts.act(running(of), of, tell)
    return {str(check): dict(found) for check, found in part.seen.items()}, part.told
