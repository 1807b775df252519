"""What a run costs, and where it ends for that."""

from tests.scenarios.stage import Theatre, sh, turn


async def warned(theatre: Theatre) -> None:
    """Most of the budget is spent, and that is enough."""
    async with theatre.open() as stage:
        await stage.play(
            turn("", sh("true"), cost_micros_usd=500),
            turn("", sh("true"), cost_micros_usd=350),
            turn("Just so.", cost_micros_usd=10),
            budget_micros_usd=1000,
        )


async def halted(theatre: Theatre) -> None:
    """The budget is spent in the middle; what was asked for last does not happen."""
    async with theatre.open() as stage:
        await stage.play(
            turn("", sh("true"), cost_micros_usd=600),
            turn("", sh("touch never"), cost_micros_usd=600),
            turn("Never said.", cost_micros_usd=600),
            budget_micros_usd=1000,
        )
    theatre.facts["files"] = [path.name for path in theatre.workspace.iterdir()]


async def spent_before(theatre: Theatre) -> None:
    """The ceiling holds for the whole chain, and may be raised."""
    async with theatre.open() as stage:
        log = await stage.play(
            turn("", sh("true"), cost_micros_usd=1200),
            turn("With more money.", cost_micros_usd=10),
            budget_micros_usd=1000,
        )
        poor = await stage.on_run(log.run_id, "resume")
        await stage.end(poor["run_id"])
        theatre.facts["lowered"] = await stage.on_run(poor["run_id"], "resume", {"budget_micros_usd": 500}, status=422)
        rich = await stage.on_run(poor["run_id"], "resume", {"budget_micros_usd": 2000})
        await stage.end(rich["run_id"])
