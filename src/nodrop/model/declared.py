"""The statements about a fabric that no switch file can make: mode, classes, roles, cables, hosts, policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from nodrop.model.external import ExternalNeighbor
from nodrop.model.fabric import Host, Link, Mode, Policy, TrafficClass
from nodrop.model.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredFacts:
    """Each key is None (or empty) where nobody stated it. `cables` are all cables of the devices that they name."""

    name: str | None = None
    mode: Mode | None = None
    classes: tuple[TrafficClass, ...] | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    cables: tuple[Link, ...] | None = None
    hosts: tuple[Host, ...] | None = None
    external: tuple[ExternalNeighbor, ...] | None = None
    policy: Policy | None = None
    profile: Profile | None = None
    """Choices of a check that nobody states about a fabric."""

    def with_policy_of(self, statement: "DeclaredFacts") -> "DeclaredFacts":
        """Return this statement with the policy of another statement.

        Policy is the owner's wishes for the fabric: mode, classes, policy and the roles that the other states. Facts
        are its name, models, cables, hosts, neighbors outside and the roles of further switches.
        """
        roles = {**self.roles, **statement.roles}
        return replace(self, mode=statement.mode, classes=statement.classes, policy=statement.policy, roles=roles)

    def completed_from(self, fallback: "DeclaredFacts") -> "DeclaredFacts":
        """Return this statement, completed key by key from a weaker one."""
        return DeclaredFacts(
            name=self.name or fallback.name,
            mode=self.mode or fallback.mode,
            classes=fallback.classes if self.classes is None else self.classes,
            roles={**fallback.roles, **self.roles},
            models={**fallback.models, **self.models},
            cables=fallback.cables if self.cables is None else self.cables,
            hosts=fallback.hosts if self.hosts is None else self.hosts,
            external=fallback.external if self.external is None else self.external,
            policy=self.policy or fallback.policy,
            profile=self.profile or fallback.profile,
        )
