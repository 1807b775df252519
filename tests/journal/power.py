"""Disks that fail: one forgets what was not synced when the power goes, one refuses to be written."""

from pathlib import Path

import apsw


class ForgetfulDisk(apsw.VFS):
    """Passes everything on to the real file system and keeps, for each file, what the last sync made safe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.safe: dict[str, bytes] = {}
        super().__init__(name, "unix", makedefault=True)

    def xOpen(self, name: "apsw.URIFilename | str | None", flags: list[int]) -> "ForgetfulFile":  # noqa: N802 - SQLite's name
        return ForgetfulFile(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        super().xDelete(name, syncdir)
        self.safe.pop(name, None)

    def lose_power(self, folder: Path) -> None:
        """Write into `folder` what a disk would hold after the power has gone."""
        for name, content in self.safe.items():
            if not name.endswith("-shm"):
                (folder / Path(name).name).write_bytes(content)


class ForgetfulFile(apsw.VFSFile):
    """One file on the forgetful disk."""

    def __init__(self, disk: ForgetfulDisk, name: "apsw.URIFilename | str | None", flags: list[int]) -> None:
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        super().xSync(flags)
        if self._name is not None:
            self._disk.safe[self._name] = Path(self._name).read_bytes()


class FailingDisk(apsw.VFS):
    """Passes everything on to the real file system, unless it has been told to fail."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failure: type[apsw.Error] | None = None
        super().__init__(name, "unix", makedefault=True)

    def xOpen(self, name: "apsw.URIFilename | str | None", flags: list[int]) -> "FailingFile":  # noqa: N802 - SQLite's name
        return FailingFile(self, name, flags)


class FailingFile(apsw.VFSFile):
    """One file on the failing disk."""

    def __init__(self, disk: FailingDisk, name: "apsw.URIFilename | str | None", flags: list[int]) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        if self._disk.failure is not None:
            raise self._disk.failure
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        if self._disk.failure is not None:
            raise self._disk.failure
        super().xSync(flags)
