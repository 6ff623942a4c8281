"""The bases of the models that enter or leave the program: requests, and the values of topics and answers."""

from __future__ import annotations

import json
from typing import Final

from pydantic import BaseModel, ConfigDict, model_validator

NOT_ENCODABLE: Final = (
    "A text has half of a surrogate pair, which can't be written. Type it again, without special characters."
)


class RequestModel(BaseModel):
    """The body of a request: frozen, unknown keys refused, and so are texts that can't be written."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_half_characters(cls, data: object) -> object:
        try:
            json.dumps(data, ensure_ascii=False, default=repr).encode()
        except UnicodeEncodeError:
            raise ValueError(NOT_ENCODABLE) from None
        return data


class TopicModel(BaseModel):
    """A topic's value or a part of it: frozen, unknown keys refused; an infinity is published as null."""

    model_config = ConfigDict(frozen=True, extra="forbid")
