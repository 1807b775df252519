"""`runwire verify`: proof that a log is whole and keeps the rules, or the first place where it is not."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import AbstractContextManager, aclosing

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.completing import RunOrFile
from runwire.cli.lines import plain
from runwire.cli.logs import after_first, blocks_of, is_file, lines_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import knowing, reached_or_embedded, say
from runwire.cli.statuses import DONE, FAILED
from runwire.cli.stored import Stored
from runwire.client.answers import Run
from runwire.client.naming import run_named
from runwire.client.render.text import many
from runwire.protocol import chain
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.lifecycle import Breach
from runwire.protocol.verify import Verifier

_PROVING = "proving the log"


class Head(click.ParamType[bytes]):
    """A chain value, `sha256:<hex>`."""

    name = "hash"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """The bytes of the value."""
        try:
            return value if isinstance(value, bytes) else chain.read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command(
    "verify",
    cls=Command,
    epilog="""\b
Examples:
  runwire verify RUN
  runwire verify run.jsonl
  runwire verify run.jsonl --head sha256:5f70bf18…   against a value that you kept elsewhere""",
)
@click.argument("source", type=RunOrFile(), metavar="RUN|FILE")
@click.option("--head", type=Head(), metavar="HASH", help="The chain value that the last event must lead to.")
@click.option("--live", is_flag=True, help="The run had not ended when FILE was written.")
def command(source: str, head: bytes | None, live: bool) -> int:
    """Prove RUN or FILE (`-` is standard input): sequence, lifecycle rules, hash chain and schema.

    Prints the chain value of a log that holds. Otherwise prints the first breach and exits with status 1. A file whose
    run is known here is held against the stored bytes, too; it may end before the run does. Works with or without a
    running gateway.
    """
    options = current()
    return asyncio.run(
        _verify_file(options, source, head, live) if is_file(source) else _verify_run(options, source, head)
    )


async def _verify_run(options: Options, run_id: str, head: bytes | None) -> int:
    async with reached_or_embedded(options) as client:
        run = await client.run(await run_named(client, run_id))
        proof = _Proof(live=not run.finished)
        with _proving(proof):
            breach = await proof.read(_up_to(client.export(run.run_id), run.head_sequence))
    return _tell(options, proof, breach or proof.compare(head, "the given value") or proof.compare_run(run))


async def _verify_file(options: Options, source: str, head: bytes | None, live: bool) -> int:
    with busy(_PROVING):
        run_id, lines = await after_first(lines_of(blocks_of(source)))
    async with knowing(options, run_id) as client:
        if client is None or run_id is None:
            proof = _Proof(live=live)
            with _proving(proof):
                breach = await proof.read(lines)
            return _tell(options, proof, breach or proof.compare(head, "the given value"))
        async with aclosing(Stored(client, run_id)) as stored:
            proof = _Proof(live=live, stored=stored)
            with _proving(proof):
                breach = await proof.read(lines) or proof.compare(head, "the given value")
    if breach is None and proof.run is not None:
        if proof.run.head_sequence > proof.last_sequence:
            say(
                f"the file ends at sequence {proof.last_sequence}, the run goes on to sequence {proof.run.head_sequence}"
            )
        else:
            breach = proof.compare_run(proof.run)
    return _tell(options, proof, breach)


class _Proof:
    """A verifier, and the first thing that it found."""

    def __init__(self, *, live: bool, stored: Stored | None = None) -> None:
        self._verifier = Verifier(live=live)
        self._stored = stored
        self._differs: Breach | None = None
        self.count = 0
        self.run: Run | None = None
        """What the stored run was when the log had been read."""

    async def read(self, lines: AsyncIterable[bytes]) -> Breach | None:
        """Take the whole log; the first breach, if there is one."""
        async for line in lines:
            before = self.last_sequence
            if found := self._verifier.feed(line):
                return self._first(found)
            if self._stored is not None and self._differs is None and self.last_sequence > before:
                # Not yet the answer: a hole before this place is told only when nothing can explain it any more.
                self._differs = await self._stored.compare(self.last_sequence, line, self.head)
        self.count = self._verifier.count
        if not self.count:
            return Breach(0, "SEQ-1", "the log holds no event")
        found = self._verifier.close()
        if self._stored is not None:
            self.run = await self._stored.run()
            if self.run.head_sequence > self.last_sequence or not self.run.finished:
                # What is open where the file ends may be settled later in the run. A lifecycle that was broken before
                # has been told before, unless a hole comes first, which stays.
                found = [breach for breach in found if not breach.rule.startswith("LIF-")]
        return self._first(found)

    def _first(self, found: Sequence[Breach]) -> Breach | None:
        # Of two at the same place the broken rule says more than the difference.
        both = [*found[:1], *([] if self._differs is None else [self._differs])]
        return min(both, key=lambda breach: breach.sequence, default=None)

    @property
    def last_sequence(self) -> int:
        """The sequence of the last event."""
        return self._verifier.last_sequence

    @property
    def head(self) -> bytes:
        """The chain value after the last event."""
        return self._verifier.head

    def compare(self, head: bytes | None, source: str) -> Breach | None:
        """Hold the log against a chain value that somebody kept."""
        if head is None or head == self.head:
            return None
        message = f"the chain ends in {chain.show(self.head)}, but {source} is {chain.show(head)}"
        return Breach(self._verifier.last_sequence, "CHAIN-1", message)

    def compare_run(self, run: Run) -> Breach | None:
        """Hold the log against what the store knows of the run."""
        if run.head_sequence != self._verifier.last_sequence:
            message = f"the log ends here, but the stored run ends at sequence {run.head_sequence}"
            return Breach(self._verifier.last_sequence, "CHAIN-1", message)
        return self.compare(chain.read(run.head_hash), "the stored head")


def _proving(proof: _Proof) -> AbstractContextManager[None]:
    return busy(_PROVING, lambda: many(proof.last_sequence + 1, "event"))


def _tell(options: Options, proof: _Proof, breach: Breach | None) -> int:
    if options.json:
        found = (
            None if breach is None else {"sequence": breach.sequence, "rule": breach.rule, "message": breach.message}
        )
        head = chain.show(proof.head) if breach is None else None
        printing.write_json({"ok": breach is None, "events": proof.count, "head_hash": head, "breach": found})
    elif breach is None:
        printing.write_text(f"ok: {proof.count} events, {chain.show(proof.head)}")
    else:
        printing.write_text(plain(f"breach at sequence {breach.sequence}: {breach.rule}: {breach.message}"))
    return DONE if breach is None else FAILED


async def _up_to(lines: AsyncGenerator[bytes], last: int) -> AsyncGenerator[bytes]:
    """The lines up to a sequence, so that a run that goes on meanwhile still fits the chain value that we know."""
    async with aclosing(lines):
        async for line in lines:
            yield line
            if decode_envelope(line).sequence >= last:
                return
