"""Reviewing what a run has changed: reading it hunk by hunk, and deciding about it."""

from pathlib import Path

from playwright.async_api import Locator, Page, expect

from tests.console.browsing import Visitor
from tests.console.runs import proposing
from tests.gateway.working import Working


def files(page: Page) -> Locator:
    """The patches of the run, as they are listed."""
    return page.get_by_role("navigation", name="Files").get_by_role("link")


def contents(working: Working) -> tuple[bool, bool]:
    """Whether the long and the short file are changed."""
    long, short = (working.folder / name for name in ("long.txt", "short.txt"))
    return "line three\n" in long.read_text(), "ONE" in short.read_text()


async def test_changes_are_read_in_one_column_or_two_file_by_file_and_hunk_by_hunk(
    visitor: Visitor, working: Working
) -> None:
    page = await visitor.open(f"review/{await proposing(working)}")
    await expect(files(page)).to_have_count(2)
    changes = page.get_by_role("table", name="Changes of long.txt")
    await expect(changes.get_by_role("cell", name="removed: line 3", exact=True)).to_be_visible()
    await expect(changes.get_by_role("cell", name="added: line thirty-three", exact=True)).to_be_visible()
    await expect(changes.get_by_role("columnheader")).to_have_count(3)
    await page.get_by_role("button", name="Side by side").click()
    await expect(changes.get_by_role("columnheader")).to_have_count(4)
    await expect(changes.get_by_role("row").filter(has_text="line three")).to_contain_text("line 3")
    hunks = changes.locator(".hunk")
    await expect(hunks).to_have_count(2)
    await page.keyboard.press("m")
    await expect(hunks.nth(0).get_by_role("checkbox")).to_be_checked()
    await expect(changes.get_by_text("line three")).to_have_count(0)
    await expect(hunks.nth(1)).to_have_class("hunk at")
    await page.keyboard.press("m")
    await expect(files(page).nth(0)).to_contain_text("read")
    await expect(page.get_by_role("table", name="Changes of short.txt")).to_be_visible()
    await page.reload()
    await expect(files(page).nth(0)).to_contain_text("read")
    await expect(page.get_by_role("button", name="Side by side")).to_have_attribute("aria-pressed", "true")


async def test_a_patch_is_applied_and_taken_back(visitor: Visitor, working: Working) -> None:
    run_id = await proposing(working)
    page = await visitor.open(f"review/{run_id}")
    await page.get_by_role("button", name="Apply", exact=True).click()
    await expect(files(page).nth(0)).to_contain_text("applied")
    assert contents(working) == (True, False)
    await page.get_by_role("button", name="Revert…").click()
    await page.get_by_label("Why").fill("rather not")
    await page.get_by_role("dialog").get_by_role("button", name="Revert").click()
    await expect(files(page).nth(0)).to_contain_text("reverted")
    assert contents(working) == (False, False)
    assert (await working.until(run_id, "tool.edit.reverted"))["reason"] == "rather not"


async def test_a_rejected_patch_writes_nothing_and_says_why(visitor: Visitor, working: Working) -> None:
    run_id = await proposing(working)
    page = await visitor.open(f"review/{run_id}")
    await page.get_by_role("button", name="Reject…").click()
    await page.get_by_label("Why").fill("wrong file")
    await page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    await expect(files(page).nth(0)).to_contain_text("rejected")
    await expect(page.get_by_role("button", name="Apply", exact=True)).to_have_count(0)
    assert contents(working) == (False, False)
    assert (await working.until(run_id, "tool.edit.rejected"))["reason"] == "wrong file"


async def test_a_file_that_changed_behind_is_told_before_and_after(visitor: Visitor, working: Working) -> None:
    page = await visitor.open(f"review/{await proposing(working)}")
    await expect(page.get_by_role("button", name="Apply", exact=True)).to_be_visible()
    (working.folder / "long.txt").write_text("something else\n")
    await page.get_by_role("button", name="Apply", exact=True).click()
    why = page.get_by_role("alert")
    await expect(why).to_contain_text("Nothing was written: long.txt has changed since the patch was made")
    await expect(why).to_contain_text("sha256:")
    await expect(why).to_contain_text("What to do:")
    assert (working.folder / "long.txt").read_text() == "something else\n"
    await page.reload()
    await expect(why).to_contain_text("It cannot be applied now: long.txt has changed since the patch was made")


async def test_all_patches_are_applied_at_once_and_taken_along_as_one_diff(visitor: Visitor, working: Working) -> None:
    page = await visitor.open(f"review/{await proposing(working)}")
    await page.get_by_role("button", name="Apply all 2").click()
    await page.get_by_role("dialog").get_by_role("button", name="Apply 2").click()
    await expect(page.get_by_text("2 applied")).to_be_visible()
    assert contents(working) == (True, True)
    async with page.expect_download() as handed:
        await page.get_by_role("button", name="Download diff").click()
    diff = Path(await (await handed.value).path()).read_text()
    assert "+line thirty-three" in diff
    assert "-one\n+ONE" in diff


async def test_of_all_patches_none_is_applied_when_one_does_not_fit(visitor: Visitor, working: Working) -> None:
    page = await visitor.open(f"review/{await proposing(working)}")
    await expect(files(page)).to_have_count(2)
    (working.folder / "short.txt").unlink()
    await page.get_by_role("button", name="Apply all 2").click()
    await expect(page.get_by_role("alert")).to_contain_text("short.txt is gone since the patch was made")
    await page.get_by_role("dialog").get_by_role("button", name="Apply 2").click()
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was written")
    assert "line three\n" not in (working.folder / "long.txt").read_text()


async def test_a_patch_that_is_decided_elsewhere_changes_by_itself(visitor: Visitor, working: Working) -> None:
    run_id = await proposing(working)
    page = await visitor.open(f"review/{run_id}")
    await expect(page.get_by_text("2 proposed")).to_be_visible()
    await working.post(f"/runs/{run_id}/patches/apply")
    await expect(page.get_by_text("2 applied")).to_be_visible()
