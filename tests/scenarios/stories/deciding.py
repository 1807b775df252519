"""Who decides whether a call may happen: policies, people, standing grants, hooks."""

import asyncio
import sys

from runwire.protocol.events.approval import ApprovalRequested
from tests.patience import PATIENCE_S
from tests.scenarios.stage import Theatre, call, sh, turn

ASK = {"shell_exec": "ask"}


async def blocked(theatre: Theatre) -> None:
    """A policy that lets nothing be written."""
    async with theatre.open() as stage:
        await stage.play(turn("", sh("touch a")), turn("It was not allowed."), policy="read_only")
    theatre.facts["files"] = sorted(path.name for path in theatre.workspace.iterdir())


async def approved(theatre: Theatre) -> None:
    """A person is asked and agrees."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("", sh("echo agreed")), turn("Done."), policy=ASK)
        asked = await stage.until(run_id, ApprovalRequested)
        theatre.facts["waiting"] = (await stage.run(run_id)).status
        theatre.facts["inbox"] = (await stage.get("/approvals", status="pending"))["data"]
        await stage.resolve(asked.approval_id, "approved", comment="fine")
        await stage.end(run_id)


async def edited(theatre: Theatre) -> None:
    """A person agrees to something else than was asked for."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("", sh("echo loud")), turn("Done."), policy=ASK)
        asked = await stage.until(run_id, ApprovalRequested)
        await stage.resolve(asked.approval_id, "approved", edited_input={"command": "echo quiet"})
        await stage.end(run_id)


async def denied(theatre: Theatre) -> None:
    """A person says no, and the agent goes on."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("", sh("touch a")), turn("Without, then."), policy=ASK)
        asked = await stage.until(run_id, ApprovalRequested)
        await stage.resolve(asked.approval_id, "denied", comment="not here")
        await stage.end(run_id)


async def stopped(theatre: Theatre) -> None:
    """A person says no and that is the end of it."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("", sh("touch a"), sh("touch b")), turn("Never said."), policy=ASK)
        asked = await stage.until(run_id, ApprovalRequested)
        await stage.resolve(asked.approval_id, "denied", stop=True, comment="stop it")
        await stage.end(run_id)


async def nobody_decides(theatre: Theatre) -> None:
    """A question that nobody answers in time."""
    async with theatre.open() as stage:
        policy = {**ASK, "approval_timeout_s": 0.3}
        await stage.play(turn("", sh("touch a")), turn("Without, then."), policy=policy)


async def granted(theatre: Theatre) -> None:
    """An answer that also holds for what comes later."""
    async with theatre.open() as stage:
        run_id = await stage.start(
            turn("", sh("echo same")),
            turn("", sh("echo same")),
            turn("", sh("echo same; touch b")),
            turn("Done."),
            policy=ASK,
        )
        asked = await stage.until(run_id, ApprovalRequested)
        await stage.resolve(asked.approval_id, "approved", scope="task")
        second = await stage.until(run_id, ApprovalRequested, lambda one: "touch" in one.summary)
        theatre.facts["permissions"] = (await stage.get("/permissions"))["data"]
        await stage.resolve(second.approval_id, "denied")
        await stage.end(run_id)


async def merged(theatre: Theatre) -> None:
    """The same call twice in one answer is one question."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("", sh("echo twin"), sh("echo twin")), turn("Done."), policy=ASK)
        asked = await stage.until(run_id, ApprovalRequested)
        async with asyncio.timeout(PATIENCE_S):
            # No event tells that the second has joined the first.
            while len((await stage.get(f"/approvals/{asked.approval_id}"))["tool_call_ids"]) < 2:
                pass
        await stage.resolve(asked.approval_id, "approved")
        await stage.end(run_id)


def _hook(theatre: Theatre, code: str, **more: object) -> dict[str, object]:
    path = theatre.folder / "hook.py"
    path.write_text("import json, sys\nseen = json.load(sys.stdin)\n" + code)
    return {"name": "guard", "on": "PreToolUse", "command": [sys.executable, str(path)], **more}


async def hook_denies(theatre: Theatre) -> None:
    """A hook that refuses a call."""
    hook = _hook(theatre, "print(json.dumps({'decision': 'deny', 'reason': 'not on a Monday'}))")
    async with theatre.open(hooks=(hook,)) as stage:
        await stage.play(turn("", sh("touch a")), turn("Tomorrow, then."))


async def hook_replaces(theatre: Theatre) -> None:
    """A hook that changes what is done."""
    hook = _hook(theatre, "print(json.dumps({'input': {'command': 'echo replaced'}}))")
    async with theatre.open(hooks=(hook,)) as stage:
        await stage.play(turn("", sh("echo original")), turn("Done."))


async def hook_breaks(theatre: Theatre) -> None:
    """A hook that crashes; the call goes on."""
    hook = _hook(theatre, "sys.exit(3)")
    async with theatre.open(hooks=(hook,)) as stage:
        await stage.play(turn("", sh("echo anyway")), turn("Done."))


async def hook_hangs(theatre: Theatre) -> None:
    """A hook that must agree, and never answers."""
    hook = _hook(theatre, "import time\ntime.sleep(60)", timeout_s=0.3, required=True)
    async with theatre.open(hooks=(hook,)) as stage:
        await stage.play(turn("", sh("touch a")), turn("Not today."))


async def told_afterwards(theatre: Theatre) -> None:
    """A hook that sees every result, byte for byte."""
    seen = theatre.folder / "seen.json"
    hook = _hook(theatre, f"open({str(seen)!r}, 'w').write(json.dumps(seen))") | {"on": "PostToolUse"}
    async with theatre.open(hooks=(hook,)) as stage:
        await stage.play(turn("", sh("echo watched")), turn("Done."))
    theatre.facts["seen"] = seen.read_text()


async def network_needs_a_word(theatre: Theatre) -> None:
    """The network is not to be used without asking; nobody is asked about an address inside."""
    async with theatre.open() as stage:
        await stage.play(
            turn("", call("http_request", method="GET", url="http://169.254.169.254/latest/meta-data")),
            turn("It is closed."),
            policy="trust",
        )
