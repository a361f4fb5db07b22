"""A row of the table of fields, and the texts that several rows share."""

from collections.abc import Mapping
from typing import NamedTuple

from nodrop.model.change import Disruption

ROW_CHANGE_KINDS = ("added", "removed", "changed")


class ChangeImpact(NamedTuple):
    """The effect of a change on a running switch, on every platform: `kinds` and `values` limit where it applies."""

    disruption: Disruption
    reason: str
    kinds: tuple[str, ...] = ROW_CHANGE_KINDS
    values: tuple[object, ...] | None = None
    """The change applies if the new value is one of these."""


class NumberMapWords(NamedTuple):
    """The words for a map from numbers to numbers: `source 3: target 4`, and in a sentence `source 3 verb target 4`."""

    source: str
    target: str
    verb: str = "goes to"


class ModelField(NamedTuple):
    """The facts about one field of the model. Its type and its unit follow from its declaration and its name.

    `label`, `unordered` and `heading` belong to the name: all classes with a field of that name share them.
    """

    label: str = ""
    """The field's word in reports, if the name without its unit is not that word."""
    key: str = ""
    """The intent keys that decide the field, as `design/decisions.py` describes; if empty, those of what holds it."""
    no_key: str = ""
    """The reason why no intent key decides the field."""
    impact: tuple[ChangeImpact, ...] = ()
    """The effects of a change; the first that applies counts. Without any, no effect is known."""
    needs: str = ""
    """The flag of the same object without which the field has no effect."""
    follows: tuple[str, ...] = ()
    """The fields of the same object from which its right value follows: they are corrected first."""
    routing: bool = True
    """Whether sessions and routes depend on the field. For fields of switches and ports only."""
    aspect: str = ""
    """The aspect of QoS in which ports are compared with their siblings, and changes with each other."""
    if_absent: object = None
    """What a switch does where the field is None, if that is known and the same on every platform."""
    numbers: NumberMapWords | None = None
    """The words for its entries, if the field is a map."""
    unordered: bool = False
    """Whether the order of its entries has no meaning."""
    heading: bool = False
    """Whether reports omit the field where they name a field inside it."""


FieldsByPath = Mapping[str, ModelField]
"""The rows of one class by path: `bfd` is a field, `queues/*` an entry of a list, `prefix_lists/**` a field with all
that it holds, and `buffer/discard` a field of the class of `buffer`, in this place only."""
FieldTable = Mapping[type[object], FieldsByPath]

EXTRA_SETTING_KEYS = "!extra.{addressee} !extra.{switches} !extra.{role} !extra.{platform}"
CLASS_LOSSLESS_KEY = "classes.{lossless}.lossless"
CLASS_KEY = "classes.{class}"
BUFFERS_KEYS = "buffers; topology.{tier}.model"
SONIC_TEMPLATE_DEFAULT_REASON = "every switch of a tier has what SONiC's own templates have"
"""Why no key decides how BGP starts and announces."""
DEFAULT_VRF_ONLY_REASON = "an intent uses the default VRF only"
"""Why no key decides a VRF."""
