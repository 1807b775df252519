"""Where a run works: the folder itself, a clone of its repository, a worktree of it, or an empty folder."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from runwire.workspace.environment import child_environment
from runwire.workspace.errors import WorkspaceInvalid
from runwire.workspace.limits import Limits
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.spawning import Command

Mode = Literal["in_place", "clone", "worktree", "scratch"]
MODES: tuple[str, ...] = get_args(Mode)

BRANCH_PREFIX = "runwire/"

_GIT_S = 600.0
# Nothing that a repository configures is run for us, and nobody is asked for a password.
_QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false")
_GIT_ENVIRON = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A workspace that is ready."""

    path: Path
    """Where the run works."""
    place: Path | None = None
    """The folder that was made for it, and that goes with it; none when the run works in place."""
    repository: Path | None = None
    """The git folder outside of the workspace that git must write: of a worktree, the one of its repository."""


@dataclass(frozen=True, slots=True)
class _Source:
    top: Path
    """The root of the working tree."""
    inside: str
    """Where the named folder lies in it."""
    repository: Path


class Maker:
    """Makes and removes workspaces."""

    def __init__(self, *, environ: Mapping[str, str]) -> None:
        """Run git with what is harmless of this environment."""
        self._environ = environ

    async def make(self, mode: str, source: Path | None, place: Path) -> Made:
        """Make a workspace of `source`; what must be made is made at `place`, which must not be there yet."""
        match mode:
            case "in_place":
                return Made(path=_folder(source))
            case "scratch":
                _claim(place)
                os.mkdir(place, 0o700)
                return Made(path=_real(place), place=place)
            case "clone":
                return await self._clone(_folder(source), place)
            case "worktree":
                return await self._worktree(_folder(source), place)
            case _:
                raise WorkspaceInvalid(str(source or ""), f"cannot be made {mode!r}; the modes are {', '.join(MODES)}")

    async def remove(self, mode: str, source: Path | None, place: Path) -> None:
        """Remove what was made at `place`. Nothing of the source goes; a branch with commits of its own stays."""
        if mode == "in_place":
            return
        await asyncio.to_thread(_remove_tree, place)
        if mode == "worktree" and source is not None:
            # The repository may be gone, or the branch hold commits that nothing else does.
            with contextlib.suppress(WorkspaceInvalid):
                await self._git(["worktree", "prune"], cwd=source)
                await self._git(["branch", "--delete", "--", BRANCH_PREFIX + place.name], cwd=source)

    async def _clone(self, source: Path, place: Path) -> Made:
        found = await self._source(source)
        _claim(place)
        part = place.with_name(f"{place.name}.part")
        _remove_tree(part)
        try:
            # Hard links would share the objects: a command in the clone could damage the source through them.
            await self._git(["clone", "--quiet", "--no-hardlinks", "--", str(found.top), str(part)], cwd=found.top)
            part.rename(place)
        except BaseException:
            _remove_tree(part)
            raise
        return Made(path=_real(place / found.inside), place=place)

    async def _worktree(self, source: Path, place: Path) -> Made:
        found = await self._source(source)
        _claim(place)
        branch = BRANCH_PREFIX + place.name
        try:
            # A branch of that name may be left from a run that was removed; its commits are not ours to drop.
            await self._git(["worktree", "add", "--quiet", "-b", branch, str(place), "HEAD"], cwd=found.top)
        except BaseException:
            _remove_tree(place)
            raise
        return Made(path=_real(place / found.inside), place=place, repository=found.repository)

    async def _source(self, folder: Path) -> _Source:
        asked = ["rev-parse", "--show-toplevel", "--show-prefix", "--path-format=absolute", "--git-common-dir"]
        try:
            top, inside, repository = (await self._git(asked, cwd=folder)).split("\n")[:3]
        except (WorkspaceInvalid, ValueError) as error:
            problem = error.message if isinstance(error, WorkspaceInvalid) else "it has no working tree"
            raise WorkspaceInvalid(str(folder), f"is no git repository that can be used: {problem}") from error
        try:
            await self._git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], cwd=folder)
        except WorkspaceInvalid as error:
            raise WorkspaceInvalid(str(folder), "has no commit yet, so there is nothing to work from") from error
        return _Source(Path(top), inside.rstrip("/"), Path(repository))

    async def _git(self, args: Sequence[str], *, cwd: Path) -> str:
        program = shutil.which("git", path=self._environ.get("PATH"))
        if program is None:
            raise WorkspaceInvalid(str(cwd), "needs git, which is not installed")
        heard: dict[str, list[str]] = {"stdout": [], "stderr": []}

        async def hear(piece: Piece) -> None:
            heard[piece.stream].append(piece.text)

        command = Command(
            argv=[program, *_QUIET, *args],
            confinement=Confinement(workspace=cwd, cwd=cwd),
            environ=child_environment(self._environ, _GIT_ENVIRON, known=()),
        )
        # A pack may be as large as the history is.
        caps = Caps(timeout_s=_GIT_S, limits=Limits(file_bytes=1024**4))
        report = await run_process(command, sandbox=Bare(), on_output=hear, caps=caps)
        if report.outcome != "exited" or report.exit_code != 0:
            said = " ".join("".join(heard["stderr"]).split()) or report.outcome
            raise WorkspaceInvalid(str(cwd), f"git {args[0]} failed: {said}")
        return "".join(heard["stdout"])


def _folder(source: Path | None) -> Path:
    if source is None:
        raise WorkspaceInvalid("", "names no folder, and only a scratch workspace can do without")
    if not source.is_absolute():
        raise WorkspaceInvalid(str(source), "is no absolute path")
    if not source.is_dir():
        raise WorkspaceInvalid(str(source), "is no folder" if source.exists() else "is not there")
    real = _real(source)
    if real == Path(real.anchor):
        raise WorkspaceInvalid(str(source), "is the whole machine, not a workspace")
    return real


def _claim(place: Path) -> None:
    if os.path.lexists(place):
        raise WorkspaceInvalid(str(place), "is there already")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceInvalid(str(place), f"cannot be made: {error.strerror}") from error


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _remove_tree(place: Path) -> None:
    # Git keeps objects read-only, and tools leave folders without the right to write.
    def free(function: object, path: str, problem: object) -> None:  # noqa: ARG001 - the signature that rmtree calls
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.unlink(path) if os.path.islink(path) or not os.path.isdir(path) else os.chmod(path, 0o700)

    if os.path.islink(place):
        place.unlink()
    elif os.path.lexists(place):
        shutil.rmtree(place, onerror=free)
        shutil.rmtree(place, ignore_errors=True)
