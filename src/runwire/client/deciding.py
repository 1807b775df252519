"""Deciding: approvals and what they grant, and patches."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from runwire.client.answers import Approval, ArtifactAnswer, Listing, PatchAnswer
from runwire.client.calls import Calls, given, segment
from runwire.client.connection import PREFIX, Call


class Deciding(Calls):
    """What a person decides about a run."""

    async def approvals(
        self, status: str | None = "pending", *, limit: int | None = None, cursor: str | None = None, **filters: str
    ) -> Listing:
        """Approvals across runs, newest first, each as raw JSON."""
        return await self._get("/approvals", Listing, given(status=status, limit=limit, cursor=cursor, **filters))

    async def approval(self, approval_id: str) -> Approval:
        """One approval."""
        return await self._get(f"/approvals/{segment(approval_id)}", Approval)

    async def approve(
        self,
        approval_id: str,
        *,
        comment: str | None = None,
        scope: str | None = None,
        edited_input: Mapping[str, object] | None = None,
    ) -> Approval:
        """Let it happen."""
        return await self._ask(
            f"/approvals/{segment(approval_id)}/resolve",
            Approval,
            decision="approved",
            comment=comment,
            scope=scope,
            edited_input=edited_input,
        )

    async def deny(self, approval_id: str, *, comment: str | None = None, stop: bool = False) -> Approval:
        """Do not let it happen; `stop` ends the run, too."""
        return await self._ask(
            f"/approvals/{segment(approval_id)}/resolve",
            Approval,
            decision="denied",
            comment=comment,
            stop=stop or None,
        )

    async def permissions(self) -> Listing:
        """Standing grants, each as raw JSON."""
        return await self._get("/permissions", Listing)

    async def revoke_permission(self, permission_id: str) -> None:
        """Take a standing grant back."""
        await self._delete(f"/permissions/{segment(permission_id)}")

    async def apply(self, artifact_id: str) -> ArtifactAnswer:
        """Write a proposed patch into its workspace."""
        return await self._ask(f"/artifacts/{segment(artifact_id)}/apply", ArtifactAnswer)

    async def apply_all(self, run_id: str, artifact_ids: Sequence[str] | None = None) -> Listing:
        """Write several proposed patches of a run, all of them or none."""
        chosen = None if artifact_ids is None else list(artifact_ids)
        return await self._ask(f"/runs/{segment(run_id)}/patches/apply", Listing, artifact_ids=chosen)

    async def reject(self, artifact_id: str, *, reason: str | None = None) -> ArtifactAnswer:
        """Refuse a proposed patch."""
        return await self._ask(f"/artifacts/{segment(artifact_id)}/reject", ArtifactAnswer, reason=reason)

    async def revert(self, artifact_id: str, *, reason: str | None = None) -> PatchAnswer:
        """Take an applied patch back."""
        return await self._ask(f"/artifacts/{segment(artifact_id)}/revert", PatchAnswer, reason=reason)

    async def patch(self, run_id: str) -> AsyncGenerator[bytes]:
        """All that a run has changed, as one diff."""
        call = Call(path=f"{PREFIX}/runs/{segment(run_id)}/patch", headers={"accept-encoding": "identity"})
        async with self._connection.open(call) as response:
            async for chunk in self._connection.chunks(response):
                yield chunk
