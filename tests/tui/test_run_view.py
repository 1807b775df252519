"""One run: followed while it lives, searched, replayed once it is over, and its changes settled."""

import json

from runwire.protocol.envelope import type_of
from runwire.protocol.payload import Opaque
from runwire.tui.pager import Pager
from tests.gateway.serving import QUEUED, STARTED, note
from tests.gateway.working import Working, says, sh, uses
from tests.tui.driving import Seen, looking_at

PROPOSING = {"auto_apply": False}


async def test_a_live_run_is_followed_at_its_end_and_left_alone_elsewhere(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, *(f"note {number}" for number in range(60)))
    async with looking_at(served) as seen:
        await seen.shows(run_id)
        timeline = await seen.open("note 59", "● live")
        await served.say(run_id, "one more")
        await seen.shows("one more")
        assert timeline.cursor == timeline.count - 1
        await seen.press("pageup", "pageup")
        await seen.shows("● live, end follows")
        stood = timeline.cursor
        await served.say(run_id, "yet another")
        await seen.until(lambda: timeline.count == 64, "the growth")
        assert timeline.cursor == stood
        assert "yet another" not in seen.text()
        await seen.press("end")
        await seen.shows("yet another", "● live ━")
        await served.finish(run_id)
        await seen.shows("run.finished", "completed", "space Play")


async def test_any_event_can_be_read_as_it_is_stored(working: Working) -> None:
    run = await working.run(says("Hello."))
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        await seen.open("run.finished")
        await seen.press("enter")
        await seen.shows('"type": "run.finished"', '"schema_version": "1"', "esc back")
        await seen.press("escape")
        await seen.shows("■ 1x")
        await seen.press("escape")
        await seen.shows("1 run")


async def test_an_unknown_type_is_shown_as_it_came_and_cannot_take_over_the_screen(working: Working) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07 \u202eevil\u2066 \x9b31m [red]markup[/red]"
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    strange = Opaque.of("external.from_the_future", json.dumps({"text": hostile}, ensure_ascii=False).encode())
    await served.services.journal.append_all(run_id, [strange, note(hostile)])
    async with looking_at(served, (140, 40)) as seen:
        await seen.shows(run_id)
        await seen.open("external.from_the_future", "[red]markup[/red]", "\\u{202e}")
        await seen.press("enter")
        await seen.shows('"external.note"', "[red]markup[/red]")
        raw = seen.text()
        await seen.press("escape")
        shown = raw + await seen.shows("● live")
        assert not any(letter in shown for letter in "\x1b\x07\x9b\u202e\u2066")


async def test_a_filter_finds_types_and_text_and_lets_go_again(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, *(f"note {number}" for number in range(50)), "The Needle")
    async with looking_at(served) as seen:
        await seen.shows(run_id)
        timeline = await seen.open("Needle")
        await seen.press("slash")
        await seen.type("needle")
        await seen.press("enter")
        await seen.shows("filter: needle  1 of 53 events", "The Needle")
        assert timeline.count == 1
        await served.say(run_id, "another needle", "and hay")
        await seen.until(lambda: timeline.count == 2, "what came live and fits")
        await seen.press("escape")
        await seen.until(lambda: timeline.count == 55, "everything again")
        await seen.press("slash")
        await seen.type("type:run.*")
        await seen.press("enter")
        await seen.shows("2 of 55 events", "run.queued", "run.started")
        await seen.press("slash", "end", *["backspace"] * 10)
        await seen.type("type:NO")
        await seen.press("enter")
        await seen.shows("is not a type pattern")


async def test_a_finished_run_is_replayed_from_anywhere(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, *(f"note {number}" for number in range(297)))
    await served.finish(run_id)
    async with looking_at(served) as seen:
        await seen.shows(run_id)
        timeline = await seen.open("300/300")
        await seen.press("home")
        await seen.shows("1/300", "run.queued")
        assert timeline.faint(1)
        await seen.press("right")
        await seen.shows(" 4/300")
        await seen.press("right", "left")
        await seen.shows(" 4/300")
        await seen.press("plus", "plus", "minus")
        await seen.shows("■ 2x")
        await seen.press(*["plus"] * 9)
        await seen.shows("■ 64x")
        await seen.press("space")
        await seen.shows("300/300", "■ 64x")
        assert not seen.view.player.playing


async def test_the_story_tells_a_run_up_to_the_cursor(working: Working) -> None:
    run = await working.run({"text": "First I look.", **sh("echo looked")}, says("Then I am done."))
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        timeline = await seen.open("run.finished")
        await seen.press("t")
        text = await seen.shows("First I look.", "echo looked", "Then I am done.", "completed", "t Timeline")
        assert text.index("First") < text.index("Then")
        said = next(
            row
            for row, line in enumerate(await working.served.stored(run["run_id"]))
            if type_of(line) == "assistant.text_complete"
        )
        await seen.press("home")
        await seen.hides("First I look.")
        while timeline.cursor < said:
            await seen.press("right")
        await seen.shows("First I look.")
        assert "Then I am done." not in seen.text()
        await seen.press("t", "end")
        await seen.shows("run.finished")


async def test_a_story_opens_at_its_end(working: Working) -> None:
    long = "\n\n".join(f"paragraph {number}" for number in range(40))
    run = await working.run(says(long))
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        await seen.open("run.finished")
        await seen.press("t")
        assert "paragraph 0" not in await seen.shows("paragraph 39", "✓ completed")


async def test_a_story_shows_what_was_changed(working: Working) -> None:
    (working.folder / "a.txt").write_text("one\ntwo\n")
    run = await working.run(uses("edit_file", path="a.txt", old_text="two", new_text="three"), says("Changed."))
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        await seen.open("run.finished")
        await seen.press("t")
        await seen.shows("± a.txt", "  │ -two", "  │ +three", "Changed.")


async def test_a_patch_is_seen_applied_and_reverted(working: Working) -> None:
    target = working.folder / "a.txt"
    target.write_text("one\ntwo\n")
    run = await working.run(uses("edit_file", path="a.txt", old_text="two", new_text="three"), says(), policy=PROPOSING)
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        await seen.open("run.finished")
        await seen.press("f")
        await seen.shows("diff of", "-two", "+three")
        assert isinstance(seen.top.screen, Pager)
        await seen.press("escape")
        await _settle(seen, "p", "Apply a.txt?", "applied a.txt")
        assert target.read_text() == "one\nthree\n"
        await _settle(seen, "v", "Revert a.txt?", "reverted a.txt")
        assert target.read_text() == "one\ntwo\n"
        await seen.shows("tool.edit.reverted")
        await seen.press("p")
        await seen.shows("none of its patches is proposed")


async def test_of_several_patches_one_is_chosen_and_rejected(working: Working) -> None:
    for name in ("a.txt", "b.txt"):
        (working.folder / name).write_text("two\n")
    edits = [uses("edit_file", path=name, old_text="two", new_text="three") for name in ("a.txt", "b.txt")]
    run = await working.run(*edits, says(), policy=PROPOSING)
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        await seen.open("run.finished")
        await seen.press("r")
        await seen.shows("Reject which patch?", "a.txt", "b.txt")
        await seen.press("down", "enter")
        await seen.shows("Reject b.txt?", "why, for the log")
        await seen.type("no")
        await seen.press("enter")
        await seen.shows("rejected b.txt", "tool.edit.rejected")
    patches = (await working.get("/artifacts", run_id=run["run_id"], kind="patch"))["data"]
    assert {one["target_path"]: one["status"] for one in patches} == {"a.txt": "proposed", "b.txt": "rejected"}


async def test_the_patch_at_the_cursor_is_the_one_that_is_meant(working: Working) -> None:
    for name in ("a.txt", "b.txt"):
        (working.folder / name).write_text("two\n")
    edits = [uses("edit_file", path=name, old_text="two", new_text="three") for name in ("a.txt", "b.txt")]
    run = await working.run(*edits, says(), policy=PROPOSING)
    await working.end(run["run_id"])
    proposed = [
        row
        for row, line in enumerate(await working.served.stored(run["run_id"]))
        if type_of(line) == "tool.edit.proposed"
    ]
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        timeline = await seen.open("run.finished")
        timeline.go(proposed[1])
        await seen.shows("p Apply  r Reject  v Revert  enter JSON")
        await seen.press("p")
        await seen.shows("Apply b.txt?")


async def _settle(seen: Seen, key: str, question: str, told: str) -> None:
    await seen.press(key)
    await seen.shows(question, "+three")
    await seen.press("enter")
    await seen.shows(told)
