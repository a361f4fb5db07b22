"""The effects of changes on a running switch that follow from the protocols, on every platform and with every tool.

A platform's own effects are in its folder (`change.yaml`), and those of its tools in the steps of its editor.

Sources: RFC 4271 (a session whose AS number, address or identifier changes is closed and opened again, and its routes
are withdrawn), RFC 8326 (graceful shutdown), IEEE 802.3 clauses 28, 73 and 91 (a link goes down and up when its speed,
negotiation or error correction changes), RFC 2992 (another hash moves flows to other paths). Another map sends packets
to another queue, and they overtake those of the old one. A port takes another MTU without going down, and drops larger
packets from then on (sonic-swss cfgmgr/portmgr.cpp and orchagent/portsorch.cpp, setPortMtu; RFC 4459, section 3).
"""

from nodrop.model.fields.row import ChangeImpact

LINK_BOUNCE = (ChangeImpact("port bounce", "the link goes down, and comes up when both ends agree"),)
PORT_REMOVED = (ChangeImpact("port bounce", "the port goes", ("removed",)),)
PORT_SHUT = (ChangeImpact("traffic-affecting", "the port is shut, and traffic takes other paths", values=(False,)),)
SHUT_BY_ROUTING_DAEMON = (
    ChangeImpact("traffic-affecting", "the interface goes down with the sessions over it", ("added", "changed")),
)
MTU_CHANGED = (
    ChangeImpact(
        "traffic-affecting",
        "until both ends of a cable have it, the one with the smaller MTU drops larger packets",
    ),
)
PACKET_CLASS_CHANGED = (
    ChangeImpact(
        "traffic-affecting",
        "packets take another class from then on, and overtake those that are still queued under the old one",
    ),
)
PAUSE_MISMATCH = (
    ChangeImpact("traffic-affecting", "until both ends of a cable have it, one pauses what the other does not stop"),
)
ADDRESS_CHANGED = (
    ChangeImpact(
        "traffic-affecting",
        "sessions over the port close, and routes over it are withdrawn",
        ("removed", "changed"),
    ),
)
ACCESS_LIST_CHANGED = (
    ChangeImpact(
        "traffic-affecting",
        "packets are permitted, dropped or marked by the new entries from then on, those of BGP sessions too",
    ),
)
VLAN_CHANGED = (
    ChangeImpact(
        "traffic-affecting",
        "ports leave the VLAN, or those in it lose their gateway",
        ("removed", "changed"),
    ),
)
NEIGHBOR_SESSION_CHANGED = (
    ChangeImpact("traffic-affecting", "the BGP session closes, and routes over it are withdrawn", ("removed",)),
    ChangeImpact("none", "a session opens once the far end has it too", ("added",)),
)
ROUTE_POLICY_CHANGED = (ChangeImpact("traffic-affecting", "routes are evaluated again, and may come and go"),)
SESSION_RESET = (ChangeImpact("traffic-affecting", "the BGP session closes and opens again"),)
SESSION_TIMERS_CHANGED = (ChangeImpact("none", "the session keeps the timers that it has until it opens again"),)
"""FRR reads them as it opens a session, and closes none for them (bgpd/bgp_packet.c, bgp_open_receive; bgpd/bgpd.c,
peer_timers_set)."""
PROCESS_SESSIONS_RESET = (ChangeImpact("traffic-affecting", "all BGP sessions of the process close and open again"),)
HARDWARE_WAIT_CHANGED = (
    ChangeImpact("traffic-affecting", "all BGP sessions of the process close and open again, in FRR 10 and later"),
)
"""bgpd closes every session, because routes may have been announced already (bgpd/bgpd.c,
bgp_suppress_fib_pending_set, from FRR 10.0 on; SONiC has it from 202411 on)."""
SESSION_CAPABILITY_CHANGED = (
    ChangeImpact("none", "a session negotiates it when it opens again, and none is closed for it"),
)
"""RFC 4724, section 3; bgpd/bgp_vty.c, bgp_graceful_restart_cmd."""
READ_AT_BGP_START = (ChangeImpact("none", "BGP reads it when it starts again"),)
PROCESS_REMOVED = (ChangeImpact("traffic-affecting", "all BGP sessions of the process close", ("removed",)),)
DRAIN_CHANGED = (
    ChangeImpact(
        "traffic-affecting",
        "others send around the switch, and flows through it move to other paths, none of which is lost",
        values=(True,),
    ),
    ChangeImpact("traffic-affecting", "others send through the switch again, and flows move back to it"),
)
ROUTES_WITHDRAWN = (ChangeImpact("traffic-affecting", "routes are withdrawn", ("removed", "changed")),)
FLOWS_MOVED_TO_OTHER_PATHS = (
    ChangeImpact("traffic-affecting", "flows move to other paths, and some of their packets overtake others"),
)
RELEASE_INSTALLED = (ChangeImpact("reboot", "another release is installed, and the switch starts it"),)
OPERATING_SYSTEM_INSTALLED = (ChangeImpact("reboot", "another operating system is installed"),)
SWITCH_REPLACED = (ChangeImpact("reboot", "it is another switch"),)
DESCRIPTION_CHANGED = (ChangeImpact("none", "it is a text"),)
STREAM_RESTARTED = (ChangeImpact("none", "the stream of counters stops and starts again; traffic is not affected"),)
"""SONiC's design document of high-frequency telemetry, section 5.1."""
