"""Effects: state that changes with an event, put together."""

import apsw

from runwire.journal.records import Effect


def together(*effects: Effect | None) -> Effect | None:
    """All of the effects, in order, as one; None when there are none. The first that refuses refuses for all."""
    given = [effect for effect in effects if effect is not None]
    if len(given) < 2:
        return given[0] if given else None

    def all_of_them(db: apsw.Connection) -> None:
        for effect in given:
            effect(db)

    return all_of_them
