"""A fabric in real FRR daemons: each device in a separate network namespace, a veth for each cable."""

from nodrop.validating.twin.observing import observe_in_twin as observe_in_twin
from nodrop.validating.twin.observing import require_twin_support as require_twin_support
from nodrop.validating.twin.work import TwinOptions as TwinOptions
