"""A fabric in real FRR daemons: each device in a separate network namespace, a veth for each cable."""

from nodrop.validating.twin.observing import available as available
from nodrop.validating.twin.observing import observe as observe
from nodrop.validating.twin.work import Options as Options
