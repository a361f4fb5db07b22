"""Values of the model keep the hash of their content where they are keys of much."""

import pickle

from nodrop.model.qos import QosProfile
from nodrop.model.values import replace_fields


class _Counted(tuple[int, ...]):
    """A map that counts how often its content was hashed."""

    hashed = 0

    def __hash__(self) -> int:
        type(self).hashed += 1
        return super().__hash__()


def test_a_profile_hashes_its_content_once() -> None:
    """A thousand look-ups by profile cost one hash of the maps in it."""
    profile = QosProfile(trust="dscp", dscp_to_tc=_Counted([0] * 64))
    _Counted.hashed = 0
    assert len({hash(profile) for _ in range(3)}) == 1
    assert _Counted.hashed == 1


def test_a_changed_or_unpickled_profile_does_not_keep_the_hash() -> None:
    """Hashes of text differ between processes, and a copy with another field is another key."""
    profile = QosProfile(trust="dscp")
    assert {profile: 1}[QosProfile(trust="dscp")] == 1
    changed = replace_fields(profile, trust="pcp")
    assert hash(changed) == hash(QosProfile(trust="pcp"))
    copied = pickle.loads(pickle.dumps(profile))
    assert not hasattr(copied, "_kept_hash")
    assert copied == profile
