"""Agno's own client against our /agno. Run by the Python that has Agno: `python agno_client.py URL TOKEN FORM`.

It starts a run that pauses, confirms what is asked, and then the same once more in one piece and through a remote agent. What
it saw is printed as one JSON object.
"""

import asyncio
import json
import sys
from typing import Any

from agno.agent.remote import RemoteAgent
from agno.client import AgentOSClient
from httpx import HTTPStatusError


async def main(url: str, token: str, form: dict[str, str]) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    client = AgentOSClient(base_url=url, timeout=20)
    config = await client.aget_config(headers=headers)
    agents = await client.list_agents(headers=headers)
    agent = await client.aget_agent("native", headers=headers)
    return {
        "config": config.os_id,
        "agents": [one.id for one in agents],
        "agent": agent.name,
        "teams": await client.list_teams(headers=headers),
        "streamed": await streamed(client, form, headers),
        "whole": await whole(client, form, headers),
        "remote": await remote(url, token, form),
        "cancelled": await cancelled(client, form, headers),
    }


async def streamed(client: AgentOSClient, form: dict[str, str], headers: dict[str, str]) -> list[str]:
    first = [one async for one in client.run_agent_stream("native", "Do it.", session_id="s1", headers=headers, **form)]
    paused = first[-1]
    for requirement in paused.active_requirements:
        requirement.confirm()
    tools = [requirement.tool_execution for requirement in paused.requirements]
    more = [
        one
        async for one in client.continue_agent_run_stream(
            "native", paused.run_id, tools=tools, session_id="s1", headers=headers
        )
    ]
    return [one.event for one in first + more]


async def whole(client: AgentOSClient, form: dict[str, str], headers: dict[str, str]) -> list[str]:
    paused = await client.run_agent("native", "Do it.", session_id="s1", user_id="u1", headers=headers, **form)
    for requirement in paused.active_requirements:
        requirement.reject(note="not here")
    tools = [requirement.tool_execution for requirement in paused.requirements]
    ended = await client.continue_agent_run("native", paused.run_id, tools=tools, session_id="s1", headers=headers)
    return [paused.status.value, ended.status.value, ended.content]


async def remote(url: str, token: str, form: dict[str, str]) -> list[str]:
    agent = RemoteAgent(base_url=url, agent_id="native", timeout=20)
    found = [one async for one in agent.arun("Do it.", stream=True, auth_token=token, **form)]
    for requirement in found[-1].active_requirements:
        requirement.confirm()
    requirements = found[-1].requirements
    going_on = agent.acontinue_run(found[-1].run_id, requirements=requirements, stream=True, auth_token=token)
    return [one.event for one in found] + [one.event async for one in going_on]


async def cancelled(client: AgentOSClient, form: dict[str, str], headers: dict[str, str]) -> list[str]:
    paused = await client.run_agent("native", "Do it.", headers=headers, **form)
    await client.cancel_agent_run("native", paused.run_id, headers=headers)
    try:
        await client.continue_agent_run("native", paused.run_id, tools=paused.tools, headers=headers)
    except HTTPStatusError as refused:
        return [type(refused).__name__, str(refused.response.status_code), refused.response.json()["detail"]]
    return []


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))))
