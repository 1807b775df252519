"""Questions of agents, answered in the console: what is asked is what is shown, and what is answered is what holds."""

from playwright.async_api import Locator, Page, Route, expect

from tests.console.browsing import Visitor
from tests.console.runs import waiting
from tests.gateway.working import Json, Working


def question(page: Page) -> Locator:
    """The card of the only question."""
    return page.get_by_role("group", name="Run this command?")


async def answered_first(page: Page, route: Route) -> None:
    """Let a tab approve, and only then let another's answer through."""
    await page.get_by_role("button", name="Approve").click()
    await expect(question(page)).to_contain_text("Approved")
    await route.continue_()


async def resolved(working: Working, run: Json) -> Json:
    """The answer as the log has it."""
    return await working.until(run["run_id"], "approval.resolved")


async def test_what_is_approved_happens(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, "touch made")
    page = await visitor.open("approvals")
    await expect(question(page).get_by_role("group", name="The exact command")).to_have_text("touch made")
    await expect(question(page)).to_contain_text("Allows: this call only")
    await page.get_by_role("button", name="Approve").click()
    await expect(question(page)).to_contain_text("Approved by operator")
    await expect(page.get_by_text("Nobody waits for an answer.")).to_be_visible()
    answer = await resolved(working, run)
    assert (answer["decision"], answer["scope"], answer["by"]) == ("approved", "once", "operator")
    await working.end(run["run_id"])
    assert (working.folder / "made").exists()


async def test_a_denial_carries_its_reason_to_the_agent(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, "touch made")
    page = await visitor.open("approvals")
    await page.get_by_role("button", name="Deny…").click()
    await expect(page.get_by_label("Why not?")).to_be_focused()
    await page.keyboard.type("not here")
    await page.get_by_role("button", name="Deny", exact=True).click()
    await expect(question(page)).to_contain_text("Denied by operator")
    await expect(question(page)).to_contain_text("not here")
    answer = await resolved(working, run)
    assert (answer["decision"], answer["comment"]) == ("denied", "not here")
    assert "run.finished" in await working.end(run["run_id"])
    assert not (working.folder / "made").exists()


async def test_a_denial_may_end_the_run(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    page = await visitor.open(f"runs/{run['run_id']}")
    await page.get_by_role("button", name="Deny…").click()
    await page.get_by_label("Stop the run as well").check()
    await page.get_by_role("button", name="Deny and stop").click()
    assert (await working.until(run["run_id"], "run.failed"))["code"] == "approval_denied"


async def test_another_command_is_approved_in_place_of_the_one_asked_for(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, "touch made")
    page = await visitor.open("approvals")
    await page.get_by_role("button", name="Edit…").click()
    field = page.get_by_label("command", exact=True)
    await expect(field).to_be_focused()
    await field.fill("touch changed")
    await page.get_by_role("button", name="Approve the changed input").click()
    await expect(question(page)).to_contain_text("With another input:")
    assert (await resolved(working, run))["edited_input"] == {"command": "touch changed"}
    await working.end(run["run_id"])
    assert [path.name for path in working.folder.iterdir()] == ["changed"]


async def test_how_far_an_approval_reaches_is_shown_before_and_holds_after(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, "echo hello")
    page = await visitor.open("approvals")
    await page.get_by_label("Always").check()
    rule = question(page).get_by_text("Allows from now on:")
    await expect(rule).to_contain_text("shell_exec may run `echo hello`")
    await page.get_by_role("button", name="Edit…").click()
    await page.get_by_label("command", exact=True).fill("echo bye")
    await expect(rule).to_contain_text("shell_exec may run `echo bye`")
    shown = (await rule.inner_text()).removeprefix("Allows from now on: ")
    await page.get_by_role("button", name="Approve the changed input").click()
    await expect(question(page)).to_contain_text("from now on")
    await working.end(run["run_id"])
    (grant,) = (await working.get("/permissions"))["data"]
    assert grant["text"] in shown
    again = await working.run({"tools": [{"name": "shell_exec", "input": {"command": "echo bye"}}]}, {"text": "Done."})
    assert "approval.requested" not in await working.end(again["run_id"])


async def test_of_two_tabs_that_decide_one_wins_and_the_other_says_who_did(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    first, second = await visitor.open("approvals"), await visitor.open("approvals")
    await second.get_by_role("button", name="Deny…").click()
    await second.get_by_label("Why not?").fill("too late")
    await first.get_by_role("button", name="Approve").click()
    await expect(question(second)).to_contain_text("Approved by operator")
    await expect(question(second)).to_contain_text("What you wrote was not sent.")
    assert (await resolved(working, run))["decision"] == "approved"


async def test_both_may_answer_at_the_same_moment(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    first, second = await visitor.open("approvals"), await visitor.open("approvals")
    # The second tab hears nothing of the first one's answer before it has sent its own.
    await second.get_by_role("button", name="Deny…").click()
    held = second.get_by_role("button", name="Deny", exact=True)
    await second.route("**/resolve", lambda route: answered_first(first, route))
    await held.click()
    await expect(question(second)).to_contain_text("Approved by operator")
    await expect(question(first)).to_contain_text("Approved by operator")
    assert (await working.end(run["run_id"])).count("approval.resolved") == 1


async def test_a_question_that_is_answered_elsewhere_changes_by_itself(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    inbox, timeline = await visitor.open("approvals"), await visitor.open(f"runs/{run['run_id']}")
    await expect(timeline.get_by_role("button", name="Approve")).to_be_visible()
    await working.post(f"/approvals/{run['approval_id']}/resolve", {"decision": "denied", "comment": "by the API"})
    await expect(question(inbox)).to_contain_text("Denied by operator")
    await expect(question(inbox)).to_contain_text("by the API")
    await expect(timeline.get_by_role("button", name="Denied")).to_be_visible()
    await expect(timeline.get_by_role("button", name="Approve")).to_have_count(0)
    await expect(inbox.get_by_role("navigation", name="Pages").get_by_text("waiting")).to_have_count(0)


async def test_a_question_is_answered_by_keys_where_it_stands_in_the_run(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, "touch made")
    page = await visitor.open(f"runs/{run['run_id']}")
    await expect(question(page)).to_be_visible()
    await page.keyboard.press("w")
    await expect(page.locator(".run-row.selected")).to_be_focused()
    await page.keyboard.press("s")
    await expect(question(page).get_by_label("This session")).to_be_checked()
    await page.keyboard.press("e")
    await expect(page.get_by_label("command", exact=True)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(question(page)).to_be_focused()
    await page.keyboard.press("n")
    await expect(page.get_by_label("Why not?")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(question(page)).to_be_focused()
    await page.keyboard.press("y")
    answer = await resolved(working, run)
    assert (answer["decision"], answer["scope"]) == ("approved", "session")
    await working.end(run["run_id"])
    assert (working.folder / "made").exists()


async def test_a_denial_that_is_half_written_outlives_its_card(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    page = await visitor.open(f"runs/{run['run_id']}")
    await page.get_by_role("button", name="Deny…").click()
    reason = page.get_by_label("Why not?")
    await reason.fill("not before")
    await page.get_by_label("Stop the run as well").check()
    notes = [{"type": "external.note", "data": {"number": number}} for number in range(200)]
    await working.post(f"/runs/{run['run_id']}/events", {"events": notes})
    await page.get_by_role("button", name="Next approval").focus()
    await page.keyboard.press("G")
    await expect(page.get_by_text("external.note").last).to_be_in_viewport()
    await expect(reason).to_have_count(0)
    await page.keyboard.press("w")
    await expect(reason).to_have_value("not before")
    await expect(page.get_by_label("Stop the run as well")).to_be_checked()
    await page.get_by_role("button", name="Deny and stop").click()
    assert (await resolved(working, run))["comment"] == "not before"
