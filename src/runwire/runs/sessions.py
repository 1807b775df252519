"""Sessions: names that hold tasks together. The first task that names one makes it."""

from runwire.journal.journal import Journal
from runwire.runs.errors import SessionNotFound
from runwire.runs.rows.tasks import Session, find_session, list_sessions


class Sessions:
    """Finds sessions."""

    def __init__(self, *, journal: Journal) -> None:
        """Look into this journal's store."""
        self._journal = journal

    async def get(self, session_id: str) -> Session:
        """One session."""
        session = await self._journal.reader.query(lambda db: find_session(db, session_id))
        if session is None:
            raise SessionNotFound(session_id)
        return session

    async def list(self, limit: int = 100) -> list[Session]:
        """The newest sessions."""
        return await self._journal.reader.query(lambda db: list_sessions(db, limit))
