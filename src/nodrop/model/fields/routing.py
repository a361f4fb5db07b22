"""The fields of BGP, its policies and static routes."""

from nodrop.model.fields import impacts
from nodrop.model.fields.row import (
    DEFAULT_VRF_ONLY_REASON,
    EXTRA_SETTING_KEYS,
    SONIC_TEMPLATE_DEFAULT_REASON,
    FieldTable,
    ModelField,
)
from nodrop.model.routing import (
    Aggregate,
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)

ROUTING_FIELDS: FieldTable = {
    Bgp: {
        "asn": ModelField(
            "AS number", key="!devices.{device}.asn; routing.asn.{asn}", impact=impacts.PROCESS_SESSIONS_RESET
        ),
        "vrf": ModelField("VRF", no_key=DEFAULT_VRF_ONLY_REASON),
        "router_id": ModelField(key="addressing.loopbacks addressing.oob", impact=impacts.PROCESS_SESSIONS_RESET),
        "networks": ModelField(key="addressing.loopbacks", impact=impacts.ROUTES_WITHDRAWN, unordered=True),
        "redistributions": ModelField(no_key="nothing is redistributed in any fabric"),
        "redistributions/*": ModelField(impact=impacts.ROUTES_WITHDRAWN),
        "aggregates": ModelField(impact=impacts.ROUTES_WITHDRAWN),
        "distances": ModelField("administrative distances", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "distances_ipv6": ModelField("administrative distances of IPv6", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "installed_policy": ModelField("policy of installed routes", impact=impacts.ROUTE_POLICY_CHANGED),
        "installed_policy_ipv6": ModelField("policy of installed IPv6 routes", impact=impacts.ROUTE_POLICY_CHANGED),
        "default_preference": ModelField("default local preference", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "maximum_med": ModelField("MED of all routes", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "maximum_paths": ModelField(key="topology.{tier}.model", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "maximum_paths_ipv6": ModelField(key="topology.{tier}.model", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "maximum_paths_internal": ModelField("equal paths from the own AS", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "maximum_paths_internal_ipv6": ModelField(
            "equal IPv6 paths from the own AS", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS
        ),
        "cluster_id": ModelField("cluster of the route reflector", impact=impacts.PROCESS_SESSIONS_RESET),
        "multipath_relax": ModelField(impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "compare_router_id": ModelField(),
        "always_compare_med": ModelField(),
        "requires_policy": ModelField(),
        "import_check": ModelField(),
        "session_dscp": ModelField(key="classes.{control}.dscp"),
        "default_ipv4_unicast": ModelField(),
        "suppress_fib_pending": ModelField(
            "announcements wait for the hardware",
            no_key=SONIC_TEMPLATE_DEFAULT_REASON,
            impact=impacts.HARDWARE_WAIT_CHANGED,
        ),
        "graceful_restart": ModelField(no_key=SONIC_TEMPLATE_DEFAULT_REASON, impact=impacts.SESSION_CAPABILITY_CHANGED),
        "preserve_forwarding": ModelField(
            "forwarding preserved", no_key=SONIC_TEMPLATE_DEFAULT_REASON, impact=impacts.SESSION_CAPABILITY_CHANGED
        ),
        "restart_s": ModelField(
            "restart time", no_key=SONIC_TEMPLATE_DEFAULT_REASON, impact=impacts.SESSION_CAPABILITY_CHANGED
        ),
        "select_defer_s": ModelField(
            "deferral of route selection", no_key=SONIC_TEMPLATE_DEFAULT_REASON, impact=impacts.READ_AT_BGP_START
        ),
        "graceful_shutdown": ModelField(
            "drained (GRACEFUL_SHUTDOWN)", key="devices.{device}.drained", impact=impacts.DRAIN_CHANGED
        ),
        "prefix_lists/**": ModelField(
            key="external.{external} addressing.loopbacks", impact=impacts.ROUTE_POLICY_CHANGED
        ),
        "community_lists/**": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "as_path_lists/**": ModelField(key="external.{external} routing", impact=impacts.ROUTE_POLICY_CHANGED),
        "as_path_lists/*": ModelField("AS path list"),
        "route_maps/**": ModelField(key="external.{external} routing", impact=impacts.ROUTE_POLICY_CHANGED),
        "neighbors": ModelField(),
        "neighbors/*": ModelField(
            "BGP neighbor", key="external.{external} routing", impact=impacts.NEIGHBOR_SESSION_CHANGED
        ),
    },
    BgpNeighbor: {
        "address": ModelField(key="external.{external}.links routing.sessions; addressing.links"),
        "interface": ModelField(key="routing.sessions"),
        "remote_asn": ModelField(
            "AS number of the far end",
            key="!devices.{peer}.asn; external.{external}.asn routing.asn.{peers}",
            impact=impacts.SESSION_RESET,
        ),
        "description": ModelField(impact=impacts.DESCRIPTION_CHANGED),
        "enabled": ModelField(),
        "active": ModelField(key="addressing.loopbacks"),
        "import_policy": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "export_policy": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "import_prefix_list": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "export_prefix_list": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "bfd": ModelField("BFD", key="external.{external}.bfd routing.bfd"),
        "hold_s": ModelField("hold time", key=EXTRA_SETTING_KEYS, impact=impacts.SESSION_TIMERS_CHANGED),
        "allowas_in": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "next_hop_self": ModelField(),
        "next_hop_forced": ModelField("next hop of reflected routes", impact=impacts.ROUTE_POLICY_CHANGED),
        "reflector_client": ModelField("client of the route reflector", impact=impacts.SESSION_RESET),
        "weight": ModelField(impact=impacts.ROUTE_POLICY_CHANGED),
        "import_path_list": ModelField("AS path list of imports", impact=impacts.ROUTE_POLICY_CHANGED),
        "export_path_list": ModelField("AS path list of exports", impact=impacts.ROUTE_POLICY_CHANGED),
        "private_asns": ModelField("private AS numbers", impact=impacts.ROUTE_POLICY_CHANGED),
        "as_override": ModelField("AS override", impact=impacts.ROUTE_POLICY_CHANGED),
        "default_originate": ModelField("announced default route", impact=impacts.ROUTE_POLICY_CHANGED),
        "default_policy": ModelField("route map of the default route", impact=impacts.ROUTE_POLICY_CHANGED),
        "maximum_prefix": ModelField(
            "maximum of prefixes", key="external.{external}.max_prefixes routing", impact=impacts.SESSION_RESET
        ),
        "passive": ModelField(impact=impacts.SESSION_RESET),
        "local_asn": ModelField("local AS number", impact=impacts.SESSION_RESET),
        "local_asn_mode": ModelField("use of the local AS number", impact=impacts.SESSION_RESET),
        "local_asn_of_group": ModelField("peer group's local AS number", impact=impacts.SESSION_RESET),
        "ttl_security_hops": ModelField("TTL security", impact=impacts.SESSION_RESET),
        "connected_check": ModelField(impact=impacts.SESSION_RESET),
        "password": ModelField(impact=impacts.SESSION_RESET),
        "evpn": ModelField("EVPN", impact=impacts.SESSION_RESET),
        "update_source": ModelField(impact=impacts.SESSION_RESET),
        "ebgp_multihop": ModelField(impact=impacts.SESSION_RESET),
        "ipv6": ModelField("IPv6"),
        "extended_next_hop": ModelField(key="routing.sessions", impact=impacts.SESSION_RESET),
    },
    Ipv6Unicast: {
        "active": ModelField(key="addressing.loopbacks"),
        "import_policy": ModelField(),
        "export_policy": ModelField(),
        "import_prefix_list": ModelField(),
        "export_prefix_list": ModelField(),
        "allowas_in": ModelField(),
        "next_hop_self": ModelField(),
        "next_hop_forced": ModelField("next hop of reflected routes"),
        "reflector_client": ModelField("client of the route reflector"),
        "weight": ModelField(),
        "import_path_list": ModelField("AS path list of imports"),
        "export_path_list": ModelField("AS path list of exports"),
        "private_asns": ModelField("private AS numbers"),
        "as_override": ModelField("AS override"),
        "default_originate": ModelField("announced default route"),
        "default_policy": ModelField("route map of the default route"),
        "maximum_prefix": ModelField("maximum of prefixes", key="external.{external}.max_prefixes routing"),
    },
    StaticRoute: {
        "prefix": ModelField(),
        "next_hop": ModelField(),
        "vrf": ModelField("VRF", no_key=DEFAULT_VRF_ONLY_REASON),
        "distance": ModelField("administrative distance", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
    },
    Aggregate: {"prefix": ModelField(), "summary_only": ModelField(), "as_set": ModelField("AS set")},
    Redistribution: {"source": ModelField(), "family": ModelField(), "policy": ModelField()},
    PrefixList: {"name": ModelField(), "family": ModelField(), "rules": ModelField()},
    PrefixRule: {
        "sequence": ModelField(),
        "action": ModelField(),
        "prefix": ModelField(),
        "ge": ModelField(),
        "le": ModelField(),
    },
    CommunityList: {"name": ModelField(), "rules": ModelField(), "expanded": ModelField()},
    AsPathList: {"name": ModelField(), "rules": ModelField()},
    RouteMap: {"name": ModelField(), "rules": ModelField()},
    RouteMapRule: {
        "sequence": ModelField(),
        "action": ModelField(),
        "matches": ModelField(unordered=True),
        "sets": ModelField(unordered=True),
    },
}
