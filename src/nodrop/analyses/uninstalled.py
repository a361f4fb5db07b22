"""Routes to hosts and loopbacks that a switch learns and does not install."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.model.index import Index

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield switches that announce routes and send no packets by them, with the setting that causes it."""
    for reach in route_propagations_of(index):
        for number, speaker in reach.world.speakers.items():
            learned = reach.state.table(number).bits & reach.wanted & ~reach.destinations_announced_by(number)
            if uninstalled_bits := learned & ~speaker.installs:
                yield _build_hit(reach, number, uninstalled_bits)


def _build_hit(reach: RoutePropagation, number: int, uninstalled_bits: int) -> AnalysisHit:
    router, family = reach.plane.routers[number], reach.routes.family
    mark = "" if family == "ipv4" else "_ipv6"
    bgp = reach.world.speakers[number].bgp
    policy = bgp.installed_policy if family == "ipv4" else bgp.installed_policy_ipv6
    prefixes = reach.prefixes(uninstalled_bits)
    count_suffix = f" and {len(prefixes) - 1} more" if len(prefixes) > 1 else ""
    field = "distances" if policy is None else "installed_policy"
    return AnalysisHit(
        subject=(*router.bgp_subject, f"{field}{mark}"),
        facts={
            "device": router.name,
            "prefix": f"{prefixes[0]}{count_suffix}",
            "cause": "distance 255" if policy is None else f"route map {policy}",
        },
        discriminator=family,
        left_out=names_left_out(prefixes),
    )
