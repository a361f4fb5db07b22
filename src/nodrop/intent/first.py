"""A first intent for somebody who has none: two leaves and two spines of one model, full of servers, with comments."""

from collections.abc import Iterable
from string import Template

from nodrop.hardware import asic, headroom_ways, media, nic, switch
from nodrop.hardware.schema import Switch
from nodrop.hardware.tables import table_headroom
from nodrop.hardware.thresholds import least_sharing
from nodrop.intent.schema import Intent
from nodrop.platforms.kit.traits import traits
from nodrop.resources import home
from nodrop.units import show_speed

NIC = "ConnectX-7"
_UPLINK_M, _ENDPOINT_M = 30, 5
_FASTEST_OF_ALL_MBPS = 800_000
"""What every release that is written can say; for more, on unused ports too, it takes the newest."""


SCHEMA = ".nodrop/intent.schema.json"
"""Where, from the folder of a first intent, an editor finds what it may hold."""


def first(platform: str, model: str, *, file: str, fabric: str = "lab") -> str:
    """Return the text of an intent that builds: a server's NIC at its fastest, uplinks at the switch's, 1:1.

    `file` is its name in the comments. KeyError where the platform or the model is not known. Its first line states
    that its schema lies in `SCHEMA`.
    """
    box = switch(model)
    platform_traits, (into, uplink) = traits(platform), headroom_ways(box)[0]
    panels = box.usable(into, uplink)
    half = len(panels) // 2
    speed = max(lane for lane in nic(NIC).lanes if lane <= uplink)
    split = into * uplink // speed
    down, up = _split_panels_in_halves(box, panels[: 2 * half], (split, speed), (into, uplink))
    servers = half * split
    return Template((home("templates") / "intent" / "first.yaml").read_text("utf-8")).substitute(
        schema=SCHEMA,
        fabric=fabric,
        file=file,
        model=model,
        platform=platform,
        version=platform_traits.usual
        if max(group.speeds[0] for group in box.ports) <= _FASTEST_OF_ALL_MBPS
        else platform_traits.releases[-1],
        servers=servers,
        down=f"{down[0]}-{down[-1]}",
        up=f"{up[0]}-{up[-1]}",
        per_spine=half * into // 2,
        uplink_split=f"split: {into}, " if into > 1 else "",
        uplink_speed=show_speed(uplink),
        uplink_media=_choose_medium(uplink, _UPLINK_M),
        nic=NIC,
        sharing=_shared_headroom_line(
            box, ((len(down), split, speed, _ENDPOINT_M), (len(up), into, uplink, _UPLINK_M))
        ),
        split=f"    split: {split}  # every panel port towards them is broken out\n" if split > 1 else "",
        speed=show_speed(speed),
        media=_choose_medium(speed, _ENDPOINT_M),
    )


def _shared_headroom_line(box: Switch, ports: Iterable[tuple[int, int, int, int]]) -> str:
    """Return the line that has ports share less headroom than all need at once, where that is too much; else "".

    `ports` are counts of panel ports, into how many each is split, Mb/s and meters.
    """
    needed, mtu = 0, Intent.model_fields["mtu"].default
    for panels, split, speed, length in ports:
        own_table_headroom = table_headroom(box, box.sonic.hwsku, speed_mbps=speed, length_m=length, mtu_bytes=mtu)
        needed += panels * split * own_table_headroom.xoff_bytes if own_table_headroom else 0
    ratio = least_sharing(asic(box.asic), box.buffer_bytes, needed) if box.buffer_bytes else 1
    return f"buffers: {{shared_headroom: {ratio}}}  # all ports' headroom at once is too much\n" if ratio > 1 else ""


def _split_panels_in_halves(
    box: Switch, panels: tuple[int, ...], down: tuple[int, int], up: tuple[int, int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ports towards servers and those towards spines: halves that a HWSKU has so, where one has them."""
    first_panels, second_panels = panels[: len(panels) // 2], panels[len(panels) // 2 :]
    for servers, spines in ((first_panels, second_panels), (second_panels, first_panels)):
        ports = dict.fromkeys(servers, down) | dict.fromkeys(spines, up)
        if any(layout.has(ports) for layout in box.sonic.layouts):
            return servers, spines
    return first_panels, second_panels


def _choose_medium(speed_mbps: int, length_m: int) -> str:
    """Return the medium of a speed that reaches a length and the least beyond it: DR optics, else an active cable."""
    fitting = [medium for medium in media().values() if speed_mbps in medium.speeds and medium.max_length_m >= length_m]
    optical = [medium for medium in fitting if medium.name.startswith("DR")]
    return min(optical or fitting, key=lambda medium: (medium.passive, medium.max_length_m, medium.name)).name
