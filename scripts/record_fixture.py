"""Record spec/fixtures/v1: the logs that the runtime leaves when the stories of tests/scenarios are played.

`python scripts/record_fixture.py` records every story, `NAME…` only some. What chance, the clock and the machine put into
them is put in order, so that a file changes only when the runtime tells a story differently.

`completed` is a file of its own, a short run with everything in it that the journal alone has written. Its ids and moments
are those of the recording; it is recorded only when it is named.
"""

import argparse
import asyncio
import secrets
import sys
import tempfile
from pathlib import Path

from runwire.clock import SystemClock
from runwire.ids import Ids
from runwire.journal.frames import envelopes
from runwire.journal.journal import open_journal
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import (
    AssistantFinalAnswer,
    AssistantTextComplete,
    AssistantTextDelta,
    AssistantToolCallProposed,
)
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.run import RunFinished, RunQueued, RunStarted
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCompleted, ToolInvoked, ToolStarted
from runwire.protocol.events.turn import TurnCompleted, TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Payload

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "spec" / "fixtures" / "v1"
COMPLETED = "completed"


def story(ids: Ids) -> list[Payload]:
    """What happens: a question, a command that somebody allows, an answer."""
    call, approval = ids.new("call"), ids.new("appr")
    said = "I will look at the tests first."
    answer = "All 12 tests pass."
    output = "............\n12 passed in 0.41s\n"
    return [
        UserMessage(turn_index=0, text="Do the tests pass?"),
        TurnStarted(turn_index=0, model="scripted", provider="scripted", input_tokens_estimate=12),
        *(AssistantTextDelta(turn_index=0, block_index=0, delta=word + " ") for word in said.split(" ")[:-1]),
        AssistantTextDelta(turn_index=0, block_index=0, delta="first."),
        AssistantTextComplete(turn_index=0, block_index=0, text=said),
        AssistantToolCallProposed(
            turn_index=0, tool_call_id=call, tool_name="shell_exec", input={"command": "pytest -q"}
        ),
        TurnCompleted(
            turn_index=0,
            input_tokens=12,
            output_tokens=20,
            cached_input_tokens=0,
            cost_micros_usd=150,
            duration_ms=900,
            tool_calls=1,
            stop_reason="tool_use",
        ),
        ApprovalRequested(
            approval_id=approval, tool_call_id=call, kind="shell_exec", summary="pytest -q", policy_reason="shell asks"
        ),
        ApprovalResolved(approval_id=approval, decision="approved", by="operator", comment="", scope="once"),
        ToolInvoked(tool_call_id=call, tool_name="shell_exec", kind="shell", turn_index=0),
        ToolStarted(tool_call_id=call, tool_name="shell_exec", kind="shell"),
        ShellCommand(
            tool_call_id=call,
            argv=["pytest", "-q"],
            cwd="/workspace",
            env_keys=["HOME", "PATH"],
            sandbox_layer="bwrap",
        ),
        ShellOutputChunk(tool_call_id=call, stream="stdout", data=output, byte_offset=0),
        ShellExited(
            tool_call_id=call, exit_code=0, signal=None, stdout_bytes=len(output), stderr_bytes=0, truncated=False
        ),
        ToolCompleted(
            tool_call_id=call, tool_name="shell_exec", kind="shell", duration_ms=450, summary="exited with status 0"
        ),
        TurnStarted(turn_index=1, model="scripted", provider="scripted", input_tokens_estimate=60),
        AssistantTextDelta(turn_index=1, block_index=0, delta=answer),
        AssistantTextComplete(turn_index=1, block_index=0, text=answer),
        AssistantFinalAnswer(turn_index=1, summary=answer),
        TurnCompleted(
            turn_index=1,
            input_tokens=60,
            output_tokens=8,
            cached_input_tokens=40,
            cost_micros_usd=90,
            duration_ms=400,
            tool_calls=0,
            stop_reason="end_turn",
        ),
        CostTick(
            cumulative_input_tokens=72,
            cumulative_output_tokens=28,
            cumulative_cost_micros_usd=240,
            task_budget_micros_usd=50_000,
            task_budget_remaining_micros_usd=49_760,
        ),
        RunFinished(final_status="completed", turns=2, cost_micros_usd=240, duration_ms=1_800),
    ]


async def record() -> bytes:
    """The log that the journal makes of the story, one envelope a line."""
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    birth = RunBirth(ids.new("run"), ids.new("task"), ids.new("chat"), "native")
    with tempfile.TemporaryDirectory() as folder:
        redactor = Redactor(SecretSet())
        async with open_journal(Path(folder) / "journal.db", redactor=redactor, clock=clock, ids=ids) as journal:
            queued = RunQueued(
                kind="agent_loop",
                model="scripted",
                provider="scripted",
                workspace_path="/workspace",
                workspace_mode="clone",
                prior_run_id=None,
            )
            started = RunStarted(worker_id="worker-1", lease_until="2026-11-15T12:00:30.000000000Z")
            await journal.create_run(birth, [queued, started])
            for payload in story(ids):
                if isinstance(payload, AssistantTextDelta | ShellOutputChunk):
                    await journal.offer(birth.run_id, payload)
                else:
                    await journal.append(birth.run_id, payload)
            batch = await journal.reader.read(birth.run_id, -1, 1 << 20)
    if batch is None:
        raise RuntimeError("the journal has kept nothing")
    return b"".join(envelope + b"\n" for envelope in envelopes(batch.frames))


def main() -> int:
    """Record what is asked for."""
    # The stories are told where they are tested.
    sys.path.insert(0, str(ROOT))
    from tests.scenarios.playing import SCENARIOS, play
    from tests.scenarios.recording import recorded

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{COMPLETED}, {', '.join(SCENARIOS)}")
    names = parser.parse_args().names or list(SCENARIOS)
    unknown = sorted(set(names) - SCENARIOS.keys() - {COMPLETED})
    if unknown:
        parser.error(f"there is no story {', '.join(unknown)}")
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name == COMPLETED:
            (TARGET / f"{COMPLETED}.jsonl").write_bytes(asyncio.run(record()))
            continue
        for file in (TARGET / f"{name}.jsonl", *TARGET.glob(f"{name}-[0-9]*.jsonl")):
            file.unlink(missing_ok=True)
        for file_name, lines in recorded(name, play(SCENARIOS[name])):
            (TARGET / file_name).write_bytes(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
