"""The reach of a change: ports with cables, and the links, hosts and GPUs at them."""

from nodrop.model.fabric import Fabric
from nodrop.model.states import known_rows
from nodrop.plan.model import DeviceChange, Plan
from nodrop.results.checked import ChangeReach


def compute_blast_radius_of_plan(plan: Plan, fabrics: tuple[Fabric, Fabric]) -> ChangeReach | None:
    """Return the reach of a plan from one fabric to another; None where no cable is known.

    A change of a switch reaches all of its ports where it disturbs the switch, or adds or removes it.
    """
    links = {(link.a, link.b) for fabric in fabrics for link in known_rows(fabric.links)}
    if not links:
        return None
    whole = {change.name for change in plan.devices if _reaches_whole_switch(change, plan)}
    ports = {(change.name, port) for change in plan.devices for part in change.parts for port in part.ports}
    reached = {
        link: [end for end in link if end.node in whole or (end.node, end.port) in ports] for link in sorted(links)
    }
    gpus = {host.name: host.gpus for fabric in fabrics for host in known_rows(fabric.hosts)}
    at_links = [link for link, ends in reached.items() if ends]
    hosts = {end.node for link in at_links for end in link if end.node in gpus}
    return ChangeReach(
        ports=len({end for ends in reached.values() for end in ends}),
        links=sum(all(end.node not in gpus for end in link) for link in at_links),
        hosts=len(hosts),
        gpus=sum(gpus[host] for host in hosts),
    )


def _reaches_whole_switch(change: DeviceChange, plan: Plan) -> bool:
    disturbs = plan.effects.get(change.name, "none") != "none" and any(not part.ports for part in change.parts)
    return change.kind != "changed" or disturbs
