"""Agno's own client drives a run through our /agno."""

import asyncio
import json
from pathlib import Path

from tests.gateway.working import at_work, says, sh
from tests.patience import PATIENCE_S
from tests.real.installed import find, requires

_CLIENT = Path(__file__).with_name("agno_client.py")
_FIRST = ["RunStarted", "RunContent", "RunContentCompleted", "RunPaused"]
_APPROVED = [
    *("RunContinued", "ToolCallStarted", "ToolCallCompleted"),
    *("RunContent", "RunContent", "RunContentCompleted", "RunCompleted"),
]


async def test_agnos_own_client_starts_decides_and_cancels(tmp_path: Path) -> None:
    requires("agno")
    async with at_work(tmp_path) as working:
        model = working.script(sh("echo yes"), says("Seen a\u2028b."))
        form = json.dumps({"model": model, "workspace": str(working.folder), "policy": "ask"})
        url = f"http://127.0.0.1:{working.served.port}/agno"
        process = await asyncio.create_subprocess_exec(
            *(str(find("agno")), str(_CLIENT), url, working.served.token, form),
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "AGNO_TELEMETRY": "false"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    # It logs what it cannot read and goes on, so its silence is part of the proof.
    assert b"Failed to parse" not in err + out
    assert b"Unknown event" not in err + out
    seen = json.loads(out.splitlines()[-1])
    assert (seen["config"], seen["agent"], seen["teams"]) == ("runwire", "Native", [])
    assert "native" in seen["agents"]
    assert seen["streamed"] == seen["remote"] == [*_FIRST, *_APPROVED]
    assert seen["whole"] == ["PAUSED", "COMPLETED", "Seen a\u2028b."]
    name, status, detail = seen["cancelled"]
    assert (name, status) == ("HTTPStatusError", "409")
    assert detail.endswith("is finished")
