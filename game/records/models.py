"""The bases of the models that enter or leave the program: requests, and the values of topics and answers."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

NOT_ENCODABLE: Final = (
    "A text has half of a surrogate pair, which can't be written. Type it again, without special characters."
)


class RequestModel(BaseModel):
    """The body of a request: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TopicModel(BaseModel):
    """A topic's value or a part of it: frozen, unknown keys refused; an infinity is published as null.

    Every key is always sent, so a schema has all of them as required.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)
