"""Tokens and money, added up."""

from typing import Literal, get_args

import msgspec
from starlette.responses import Response

from runwire.errors import InvalidFilter
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.parameters import since_ns
from runwire.gateway.services import Services
from runwire.runs.usage import GroupBy, UsageRow, used

GROUPS: tuple[GroupBy, ...] = get_args(GroupBy)


class UsageReport(msgspec.Struct, frozen=True, kw_only=True):
    """Sums, one a group."""

    object: Literal["list"] = "list"
    group_by: GroupBy
    data: list[UsageRow]


async def show_usage(services: Services, call: Call) -> Response:
    """What was used, by agent unless the query says otherwise."""
    asked = call.query.get("group_by", "agent")
    for group_by in GROUPS:
        if group_by == asked:
            rows = await used(services.journal.reader, group_by, since_ns(call))
            return json_response(UsageReport(group_by=group_by, data=rows))
    raise InvalidFilter("group_by", asked)
