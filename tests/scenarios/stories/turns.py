"""What happens between a run and its model."""

import base64

from runwire.protocol.events.turn import TurnStarted
from tests.scenarios.stage import Theatre, call, sh, turn

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def plain_answer(theatre: Theatre) -> None:
    """A question and its answer."""
    async with theatre.open() as stage:
        await stage.play(turn("Nothing is wrong here, as far as one can see."), prompt="Is anything wrong?")


async def tool_and_answer(theatre: Theatre) -> None:
    """A turn that wants a command, and one that knows the result."""
    async with theatre.open() as stage:
        await stage.play(turn("Let me count.", sh("seq 1 3")), turn("There are three."))


async def looking_around(theatre: Theatre) -> None:
    """Several calls in one answer, all of which only read."""
    theatre.file("src/a.py", "import os\nprint('hello')\n")
    theatre.file("README.md", "# hello\n")
    async with theatre.open() as stage:
        await stage.play(
            turn("", call("glob", pattern="**/*.py")),
            turn("", call("grep", pattern="hello")),
            turn("", call("file_read", path="src/a.py", start_line=2, end_line=2)),
            turn("", call("todo_write", todos=[{"content": "read it", "status": "completed"}])),
            turn("Seen."),
        )


async def at_once(theatre: Theatre) -> None:
    """Three calls in one answer."""
    theatre.file("a.txt", "a\n")
    async with theatre.open() as stage:
        await stage.play(
            turn("", call("file_read", path="a.txt"), sh("echo b"), call("file_read", path="none.txt")), turn("Done.")
        )


async def upstream_recovers(theatre: Theatre) -> None:
    """A provider that is overloaded twice."""
    busy = {"status": 529, "message": "Overloaded", "times": 2, "retry_after_s": 0.01}
    async with theatre.open() as stage:
        await stage.play(turn("There it is.", error=busy))


async def upstream_gives_up(theatre: Theatre) -> None:
    """A provider that never answers."""
    async with theatre.open() as stage:
        await stage.play(turn("", error={"status": 503, "message": "down", "retry_after_s": 0.01}))


async def upstream_breaks_off(theatre: Theatre) -> None:
    """A connection that breaks in the middle of a text."""
    broken = {"message": "reset", "times": 1, "mid_stream": True, "retry_after_s": 0.01}
    async with theatre.open() as stage:
        await stage.play(turn("A text that is long enough to be cut in the middle of it.", error=broken))


async def refused_key(theatre: Theatre) -> None:
    """A provider that does not know the key: no use in trying again."""
    async with theatre.open() as stage:
        await stage.play(turn("", error={"status": 401, "message": "invalid key"}))


async def script_ends(theatre: Theatre) -> None:
    """A script that is too short."""
    async with theatre.open() as stage:
        await stage.play(turn("One more.", sh("true")))


async def turns_used_up(theatre: Theatre) -> None:
    """An agent that does not come to an end."""
    async with theatre.open() as stage:
        await stage.play(*[turn("", sh("true"))] * 4, max_turns=2)


async def window_fills(theatre: Theatre) -> None:
    """A conversation that no longer fits: it is summarised, and goes on."""
    full = {"input": 900, "output": 20}
    async with theatre.open() as stage:
        await stage.play(
            turn("First.", sh("echo one")),
            turn("Second.", sh("echo two")),
            turn("Third.", sh("echo three"), usage=full),
            turn("One, two and three were printed."),
            turn("All three."),
            script={"capabilities": {"window_tokens": 1000}},
        )


async def without_tools(theatre: Theatre) -> None:
    """A model that cannot be given tools asks for them in text, badly first."""
    async with theatre.open() as stage:
        await stage.play(
            turn('{"tool": "shell_exec", "input": {"command": '),
            turn('{"tool": "shell_exec", "input": {"command": "echo by text"}}'),
            turn("It said: by text."),
            script={"capabilities": {"tool_use": False}},
        )


async def other_model(theatre: Theatre) -> None:
    """A policy that replaces the model."""
    async with theatre.open() as stage:
        cheap = stage.script([turn("The cheap one speaks.")], name="cheap.json")
        policy = {"models": [{"from": "scripted:*script.json", "to": cheap, "reason": "cheaper"}]}
        await stage.play(turn("The dear one speaks."), policy=policy)


async def steered(theatre: Theatre) -> None:
    """Somebody says something while the model thinks; the run hears it instead of finishing."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("I am done.", delay_ms=600), turn("In French, then: fini."))
        await stage.until(run_id, TurnStarted)
        await stage.on_run(run_id, "messages", {"text": "In French, please."}, status=202)
        await stage.end(run_id)


async def picture_given(theatre: Theatre) -> None:
    """A prompt with a picture."""
    picture = {"mime": "image/png", "base64": base64.b64encode(PIXEL).decode()}
    async with theatre.open() as stage:
        await stage.play(turn("A single pixel."), prompt="What is this?", attachments=[picture])


async def bad_arguments(theatre: Theatre) -> None:
    """Calls that no tool can take: no JSON, a field too few, a tool that is not there."""
    no_json = {"name": "shell_exec", "arguments": '{"command": "ec'}
    async with theatre.open() as stage:
        await stage.play(turn("", no_json), turn("", call("file_read")), turn("", call("teleport")), turn("I give up."))
