"""What all parts of an intent have in common."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class SchemaMapping(BaseModel):
    """A mapping of an intent: closed, and frozen once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    KEYS_ELSEWHERE: ClassVar[Mapping[str, str]] = {}
    """Keys that may be expected here, and where an intent has them."""
