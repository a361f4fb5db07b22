"""What all parts of an intent have in common."""

from pydantic import BaseModel, ConfigDict


class SchemaMapping(BaseModel):
    """A mapping of an intent: closed, and frozen once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
