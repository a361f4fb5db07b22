"""The script that applies a switch's stages, `apply/apply.sh`, and the release and model facts that it needs.

Sources: NVUE command reference, Config Commands (`--confirm` in 5.0 and later, ten minutes unless a time is stated;
`nv config apply` saves in 5.9 and later); Cumulus Linux user guide, NVUE CLI (`nv config diff`, `patch`, `replace` and
`detach`; a backup is `/etc/nvue.d/startup.yaml`; a time with its unit, `60m`); the NAPALM driver napalm-cumulus
(`nv config revision -o json`, the state `confirm`, `--confirm-yes` and `--confirm-no` of a revision); 5.15, New and
Changed NVUE Commands (the DHCP client of eth0).
"""

import textwrap
from functools import cache

from nodrop.platforms.kit.own_additions import read_addition_rows
from nodrop.platforms.kit.rendering import load_template
from nodrop.platforms.nvue.edit_steps import first_apply_disruptions as first_apply_disruptions
from nodrop.platforms.nvue.edit_steps import settings_bouncing_ports
from nodrop.platforms.nvue.releases import has_feature
from nodrop.platforms.nvue.spelling import GLOBAL_PROFILE, KINDS_WITH_GLOBAL_DEFAULTS
from nodrop.platforms.nvue.stages import quote_for_shell

_ETH0_DHCP_CLIENT_WORDS = {False: "ip address dhcp", True: "ipv4 dhcp-client"}
"""What makes eth0 a DHCP client, by whether the release has a client for each family of addresses."""

_QOS_PATHS_UNSET_FIRST = (
    "qos roce",
    "qos traffic-pool",
    *(f"qos {kind} {GLOBAL_PROFILE}" for kind in (*KINDS_WITH_GLOBAL_DEFAULTS, "egress-queue-mapping")),
)
"""The QoS of all ports, of which one style leaves out what the other states; a patch alone would keep it."""


@cache
def image_system_settings() -> list[str]:
    """Return the settings of `system` that an image comes with, as lines: what `nv config replace` removes."""
    settings = [setting for row in read_addition_rows("nvue") for setting in row.settings if setting[0] == "system"]
    words = sorted({" ".join(setting[1:-1][:2] or setting[1:]) for setting in settings})
    own_words = [word for word in words if not any(word.startswith(f"{other_word} ") for other_word in words)]
    return textwrap.wrap("system " + ", ".join(own_words), 100, break_on_hyphens=False)


def apply_script(release: str, model: str) -> str:
    """Return the script for a release and a model; all else that it needs to know is in the stages next to it."""
    return load_template("nvue/apply.sh.j2").render(
        release=quote_for_shell(release),
        model=quote_for_shell(model),
        dhcp=_ETH0_DHCP_CLIENT_WORDS[has_feature(release, "a DHCP client by family")],
        renewed=_QOS_PATHS_UNSET_FIRST,
        restarts=settings_bouncing_ports(release),
    )
