"""What can go wrong with a workspace, as leaves of the one tree of errors."""

from runwire.errors import Conflict, InvalidContent, Refused, Unavailable


class PathRefused(Refused):
    """The path leads out of the workspace, or to something that is no plain file or folder."""

    code = "path_refused"
    hint = "name a file inside the workspace, without symbolic links on the way"

    def __init__(self, path: str, reason: str) -> None:
        shown = shortened(path)
        super().__init__(f"{shown!r} is refused: {reason}", details={"path": shown, "reason": reason})
        self.path = path
        self.reason = reason


class WorkspaceInvalid(InvalidContent):
    """The workspace that was asked for cannot be made."""

    code = "workspace_invalid"
    hint = "check the path and the mode; clone and worktree need a git repository with at least one commit"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{shortened(path)!r} {reason}", details={"path": shortened(path)})


class WorkspaceDrifted(Conflict):
    """A file is not what it was when the change to it was made, so nothing was written."""

    code = "workspace_drifted"
    hint = "look at the file as it is now, and have the change made again"

    def __init__(self, path: str, *, expected: str, actual: str) -> None:
        details = {"path": path, "expected": expected, "actual": actual}
        super().__init__(f"{shortened(path)!r} is {actual}, not {expected}", details=details)
        self.path, self.expected, self.actual = path, expected, actual


class WorkspaceBusy(Conflict):
    """Somebody else is writing to the workspace."""

    code = "workspace_busy"
    hint = "try again when they are done"

    def __init__(self, path: str) -> None:
        super().__init__(f"{shortened(path)!r} is being written by somebody else", details={"path": shortened(path)})


class PatchRedacted(Conflict):
    """The stored patch has a secret blacked out, so it is not the change that was made."""

    code = "patch_redacted"
    hint = "have the agent make the change again; a secret is never stored, so this patch cannot be applied"

    def __init__(self, artifact_id: str) -> None:
        super().__init__(f"{artifact_id} was redacted or cut when it was stored", details={"artifact_id": artifact_id})


class PatchUnavailable(Conflict):
    """A body that the whole change is made of is gone, redacted or cut."""

    code = "patch_unavailable"
    hint = "the patches of single files may still be there: look at the run's artifacts"

    def __init__(self, artifact_id: str) -> None:
        message = f"the change cannot be put together without {artifact_id}"
        super().__init__(message, details={"artifact_id": artifact_id})


class CommandInvalid(InvalidContent):
    """The command cannot be handed to the system as it is."""

    code = "command_invalid"
    hint = "leave out NUL characters, and put long input into a file"

    def __init__(self, problem: str) -> None:
        super().__init__(f"the command cannot be started: {problem}")


class SandboxUnavailable(Unavailable):
    """No way to confine a command works on this machine, and running without one was not allowed."""

    code = "sandbox_unavailable"
    hint = "install bubblewrap, or set allow_unconfined if this machine is itself a sandbox"


class AddressRefused(Refused):
    """The address is not one of the open internet, and nobody allowed it."""

    code = "address_refused"
    hint = "add the host or its network to allow_hosts if the agent should reach it"

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(f"{shortened(host)!r} is refused: {reason}", details={"host": shortened(host)})
        self.host = host
        self.reason = reason


def shortened(text: str, most: int = 200) -> str:
    """A text that a stranger chose, cut to what an answer should quote."""
    return text if len(text) <= most else f"{text[:most]}…"
