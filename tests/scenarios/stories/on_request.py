"""Experimental types, which a task must ask for by name."""

import base64

from tests.scenarios.stage import Theatre, call, sh, turn
from tests.scenarios.stories.turns import PIXEL

THINKING = ["assistant.thinking_delta", "assistant.thinking_complete"]
CHILDREN = ["run.child_started", "run.child_finished"]


async def thinking(theatre: Theatre) -> None:
    """A model that thinks aloud and writes its calls bit by bit."""
    async with theatre.open() as stage:
        await stage.play(
            turn("So I count.", sh("seq 1 2"), thinking="There might be two of them; I had better count."),
            turn("Two."),
            experimental=[*THINKING, "assistant.tool_input_delta"],
        )


async def not_asked_for(theatre: Theatre) -> None:
    """The same without asking."""
    async with theatre.open() as stage:
        await stage.play(turn("So I count.", sh("seq 1 2"), thinking="There might be two of them."), turn("Two."))


async def media(theatre: Theatre) -> None:
    """A model that draws."""
    drawn = {"mime": "image/png", "base64": base64.b64encode(PIXEL).decode()}
    async with theatre.open() as stage:
        await stage.play(turn("Here it is.", media=[drawn]), experimental=["assistant.media"])


async def children(theatre: Theatre) -> None:
    """A part of the work is done by another run, which plays the same script from its beginning."""
    async with theatre.open() as stage:
        await stage.play(
            turn("", call("spawn_agent", prompt="count the files")), turn("Counted."), experimental=CHILDREN
        )
