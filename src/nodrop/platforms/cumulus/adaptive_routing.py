"""The meaning of the adaptive routing file: the switch and its ports, each with a threshold of utilization.

Sources: Cumulus Linux 5.1 to 5.19, Equal Cost Multipath, Adaptive Routing. Whether the switch checks utilization is not
read: the pages differ on which value of `link_utilization_threshold_disabled` does this. That of 5.9, like newer ones,
turns it on with TRUE, against the key's name; another turns it on with FALSE.
"""

from nodrop.model.reading import FilePlace
from nodrop.platforms.cumulus.keys import parse_lines
from nodrop.platforms.kit.translating import TranslatedFiles, format_command_word
from nodrop.syntax.places import quote_text

ADAPTIVE_ROUTING_FILE = "adaptive_routing.conf"
_ADAPTIVE_ROUTING_COMMAND = "router adaptive-routing"
_IGNORED_KEY_PARTS = ("profile0", "congestion_threshold", "buffer-mode", "link_utilization_threshold_disabled")


def translate_adaptive_routing(config_text: str, translation: TranslatedFiles) -> None:
    """Translate the file; a switch that it does not turn on is off, even if its ports have settings."""
    enable_stated, first_setting = False, None
    for setting in parse_lines(ADAPTIVE_ROUTING_FILE, config_text):
        if isinstance(setting, FilePlace):
            translation.add_not_understood(setting, "the line")
            continue
        word = "on" if setting.flag else "off"
        match setting.parts:
            case ("adaptive_routing", "enable"):
                enable_stated = True
                translation.add_nvue_command(f"{_ADAPTIVE_ROUTING_COMMAND} enable {word}", setting.place, setting.key)
            case ("interface", port, "adaptive_routing", "enable"):
                first_setting = first_setting or setting
                translation.add_nvue_command(
                    f"interface {port} {_ADAPTIVE_ROUTING_COMMAND} enable {word}", setting.place, setting.key
                )
            case ("interface", port, "adaptive_routing", "link_util_thresh"):
                if setting.value != "0":  # as it stands where the switch does not look at utilization
                    command = (
                        f"interface {port} {_ADAPTIVE_ROUTING_COMMAND} link-utilization-threshold "
                        f"{format_command_word(setting.value)}"
                    )
                    translation.add_nvue_command(command, setting.place, setting.key)
            case ("adaptive_routing", part, *_) if part in _IGNORED_KEY_PARTS:
                pass
            case _:
                translation.add_not_understood(setting.place, f"setting {quote_text(setting.key)}")
    if first_setting is not None and not enable_stated:
        translation.add_nvue_command(f"{_ADAPTIVE_ROUTING_COMMAND} enable off", first_setting.place, first_setting.key)
