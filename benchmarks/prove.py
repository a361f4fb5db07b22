"""Proofs about three-tier Clos fabrics: graph and order of buffers, failures, and storms of all NICs.

Each leaf has 16 ports to hosts. With --own-numbers, all switches of the top tier have different AS numbers, and the
conditions for any failures do not hold. Single failures are searched in both cases. Seconds are those of the CPU;
memory is the most that the process has had so far.

    python benchmarks/prove.py [--switches 12288] [--own-numbers] [--json FILE]
"""

import argparse
import gc
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from clos import sized, with_hosts
from nodrop.analyses._plane import control_plane_of
from nodrop.analyses._targets import host_and_loopback_targets
from nodrop.analyses.buffer_cycles import deadlock_check_of
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.values import replace_fields
from nodrop.proofs.circles import topological_depth_by_node
from nodrop.proofs.dependencies import DependencyGraph
from nodrop.proofs.failures import search_failures_with_circle
from nodrop.proofs.forwarding import Forwarding
from nodrop.proofs.invariants import check_any_failure_conditions
from nodrop.proofs.traffic import TrafficAtRouters
from nodrop.report.storm import pause_storm_facts
from nodrop.routing import ControlPlane
from nodrop.routing.decision import LearnedTable

_T = TypeVar("_T")
HOST_PORTS = 16
_CLASSES = tuple(range(8))
_LOSSLESS = QosProfile(
    trust="dscp",
    dscp_to_tc=tuple(3 if dscp == 26 else 0 for dscp in range(64)),
    tc_to_queue=_CLASSES,
    tc_to_priority_group=_CLASSES,
    pfc_rx_priorities=(3,),
    pfc_tx_priorities=(3,),
)


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--switches", type=int, default=12288)
    parser.add_argument("--own-numbers", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    report: dict[str, Any] = {"seconds": {}, "megabytes": {}}

    def measured(name: str, run: Callable[[], _T]) -> _T:
        begun = time.process_time()
        made = run()
        report["seconds"][name] = round(time.process_time() - begun, 2)
        report["megabytes"][name] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{name}: {report['seconds'][name]} s, {report['megabytes'][name]} MB", flush=True)
        return made

    index = Index(lossless(with_hosts(sized(options.switches, shared=not options.own_numbers), HOST_PORTS)))
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)
    plane = control_plane_of(index)
    measured("routes", lambda: (tables_of(plane), host_and_loopback_targets(index)))
    forwarding = measured("next hops", lambda: Forwarding(plane))
    traffic = measured("packets", lambda: TrafficAtRouters(forwarding))
    graph = measured("graph", lambda: DependencyGraph(traffic, exact=False))
    order = measured("order", lambda: topological_depth_by_node(graph.after))
    conditions = measured("conditions for failures", lambda: check_any_failure_conditions(forwarding))
    check = deadlock_check_of(index)
    search = measured("single failures", lambda: search_failures_with_circle(plane, check, conditions, 1))
    print(f"{search.single} single failures in {search.classes} classes: {search.states} states computed")
    print(f"complete: {search.complete}, with a circle: {search.check is not None}")
    storms = measured("storms", lambda: pause_storm_facts(index)["storms"])
    ports = sum(len(row["ports"]) for row in storms)
    print(f"{ports} ports to hosts, of which one stops up to {storms[0]['host_ports']} others")
    devices = len(index.fabric.devices)
    print(f"{devices} switches, {len(forwarding.channels)} buffers; free: {order is not None}, {conditions.hold}")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def tables_of(plane: ControlPlane) -> list[LearnedTable]:
    """Return the learned routes of all routers."""
    families = [plane.of(family) for family in plane.families]
    return [routes.state.table(number) for routes in families for number in routes.world.speakers]


def lossless(fabric: Fabric) -> Fabric:
    """Return a fabric with one lossless class on every port."""
    return replace_fields(
        fabric,
        devices=tuple(
            replace_fields(device, interfaces=tuple(replace_fields(one, qos=_LOSSLESS) for one in device.interfaces))
            for device in fabric.devices
        ),
    )


if __name__ == "__main__":
    main()
