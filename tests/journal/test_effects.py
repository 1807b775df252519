"""Effects that are put together."""

from runwire.journal.effects import together
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from tests.journal.reading import note


def test_no_effect_is_none_and_one_is_itself() -> None:
    def one(_: object) -> None:
        """Nothing."""

    assert together() is together(None, None) is None
    assert together(None, one) is one


async def test_several_effects_happen_in_order_with_the_event(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    both = together(
        lambda db: db.execute("UPDATE runs SET agent = 'one'"),
        None,
        lambda db: db.execute("UPDATE runs SET agent = agent || ', two'"),
    )
    await journal.append("run_a", note(), also=both)
    assert await journal.reader.query(lambda db: db.execute("SELECT agent FROM runs").fetchall()) == [("one, two",)]
