"""A gateway that goes away and comes back: the view says so, and goes on where it was."""

import asyncio
from pathlib import Path

from tests.cli.program import Shell
from tests.cli.running import running
from tests.tui.driving import looking


async def test_a_lost_gateway_is_told_of_and_taken_up_again(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    with running(shell, tmp_path / "data") as gateway:
        script = tmp_path / "script.json"
        script.write_text(
            '{"turns":[{"tools":[{"name":"shell_exec","input":{"command":"sleep 66"}}]},{"text":"Done."}]}'
        )
        ended = shell.runwire("run", "--data", str(gateway.data), "--detach", "--model", f"scripted:{script}", "Sleep")
        assert ended.status == 0, ended.err
        async with looking(gateway.url, gateway.token) as seen:
            await seen.shows("working   native")
            await seen.open("● live")
            before = seen.view.record.head
            gateway.stop()
            await seen.shows("lost the gateway, trying again")
            assert "tool.shell.command" in seen.text()
            await asyncio.to_thread(gateway.restart)
            await seen.hides("lost the gateway")
            await seen.until(lambda: seen.view.record.head > before, "what has happened since")
            assert seen.link.breaks > 0
