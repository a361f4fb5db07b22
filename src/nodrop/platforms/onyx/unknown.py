"""Commands that Onyx does not have: slips of its words, and classes of traffic set in words of other systems.

Sources: NVIDIA Onyx User Manual 3.10.4606 LTS, RoCE Commands, and Quality of Service.
"""

from collections import Counter

from nodrop.platforms.kit.near_words import find_near_word
from nodrop.platforms.onyx.commands import OnyxCommand

_SWITCH_COMMAND_EXAMPLES = (
    "roce lossless",
    "dcb priority-flow-control enable force",
    "dcb priority-flow-control priority 3 enable",
    "traffic pool NAME type lossless",
    "traffic pool NAME memory percent 50",
    "traffic pool NAME map switch-priority 3",
    "advanced buffer management force",
    "pool iPool1 size 5M type dynamic",
)
_PORT_COMMAND_EXAMPLES = (
    "qos trust L3",
    "qos map dscp 26 to switch-priority 3",
    "dcb priority-flow-control mode on force",
    "traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
    "traffic-class 3 dcb ets wrr 50",
    "traffic-class 3 bind switch-priority 3",
    "ingress-buffer iPort.pg3 bind switch-priority 3",
    "ingress-buffer iPort.pg3 map pool iPool1 type lossless reserved 70K xoff 18K xon 18K shared alpha 2",
    "egress-buffer ePort.tc3 map pool ePool1 reserved 1500 shared alpha inf",
    "pfc-wd",
    "flowcontrol receive off force",
    "mtu 9216 force",
    "speed 100G force",
    "switchport mode trunk",
    "fec-override rs-fec",
    "module-type qsfp-split-2",
    "no shutdown",
)
"""The commands that are read, as one types them for the switch, and for an interface after its name."""
_QOS_FIRST_WORDS = frozenset({
    "congestion-control", "ecn", "egress-buffer", "ingress-buffer", "pfc", "pool", "priority-flow-control", "qos",
    "roce", "traffic",
})  # fmt: skip
"""First words of commands about classes of traffic: all of their forms are above."""
_FULLY_LISTED_SECOND_WORDS = {
    "dcb": ("priority-flow-control",),
    "traffic-class": ("congestion-control", "ecn", "pfc", "priority"),
}
"""First words with more forms, by the words after which all of them are above."""
_KNOWN_WORDS = frozenset(
    word
    for form in (*_SWITCH_COMMAND_EXAMPLES, *_PORT_COMMAND_EXAMPLES)
    for word in form.split()
    if word.replace("-", "").isalpha()
) | {"description", "hostname", "interface", "protocol", "spanning-tree", "snmp-server", "logging", "router", "vlan"}
_ONYX_WORD_BY_SYNONYM = {
    "pfc": "priority-flow-control",
    "priority": "switch-priority",
    "tc": "traffic-class",
    "watchdog": "pfc-wd",
}
"""Words of other systems, and what Onyx calls it."""


def suggest_command(command: OnyxCommand) -> str | None:
    """Return what there is instead of a command that Onyx does not have; None where it may have it."""
    for word in command.words:
        if word not in _KNOWN_WORDS and (meant := find_near_word(word, _KNOWN_WORDS)):
            return f"`{word}`: did you mean `{meant}`?"
    keyword, *arguments = command.words or ("",)
    sure = _FULLY_LISTED_SECOND_WORDS.get(keyword)
    if keyword in _QOS_FIRST_WORDS or (sure is not None and any(word in sure for word in arguments[:2])):
        return _nearest_command_form(command)
    return None


def _nearest_command_form(command: OnyxCommand) -> str:
    """Return the form that shares most with a command, words that few forms have counting most."""
    preferred_forms = _PORT_COMMAND_EXAMPLES if command.kind else _SWITCH_COMMAND_EXAMPLES
    typed = {*command.words, *(_ONYX_WORD_BY_SYNONYM.get(word, word) for word in command.words)}

    def shared(form: str) -> tuple[float, bool]:
        words = {word for word in form.split() if len(word) > 2} & typed
        return sum(1 / _FORM_COUNT_BY_WORD[word] for word in words), form in preferred_forms

    form = max((*_SWITCH_COMMAND_EXAMPLES, *_PORT_COMMAND_EXAMPLES), key=shared)
    if not any(shared(form)):
        return "a switch's `show running-config` shows what there is"
    return f"there is `{form}`" if form in _SWITCH_COMMAND_EXAMPLES else f"there is `interface ethernet 1/1 {form}`"


_FORM_COUNT_BY_WORD = Counter(
    word for form in (*_SWITCH_COMMAND_EXAMPLES, *_PORT_COMMAND_EXAMPLES) for word in set(form.split())
)
