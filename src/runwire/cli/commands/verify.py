"""`runwire verify`: proof that a log is whole and keeps the rules, or the first place where it is not."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.lines import plain
from runwire.cli.logs import blocks_of, is_file, lines_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import known_run, reached_or_embedded
from runwire.cli.statuses import DONE, FAILED
from runwire.client.answers import Run
from runwire.protocol import chain
from runwire.protocol.envelope import MalformedEnvelope, decode_envelope
from runwire.protocol.lifecycle import Breach
from runwire.protocol.verify import Verifier


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
@click.argument("source", metavar="RUN|FILE")
@click.option("--head", type=Head(), metavar="HASH", help="The chain value that the last event must lead to.")
@click.option("--live", is_flag=True, help="The run had not ended when FILE was written.")
def command(source: str, head: bytes | None, live: bool) -> int:
    """Prove RUN or FILE (`-` is standard input): sequence, lifecycle rules, hash chain and schema.

    Prints the chain value of a log that holds. Otherwise prints the first breach and exits with status 1. A file whose
    run is known here is held against the stored chain value, too. Works with or without a running gateway.
    """
    options = current()
    return asyncio.run(
        _verify_file(options, source, head, live) if is_file(source) else _verify_run(options, source, head)
    )


async def _verify_run(options: Options, run_id: str, head: bytes | None) -> int:
    async with reached_or_embedded(options) as client:
        run = await client.run(run_id)
        proof = _Proof(live=not run.finished)
        breach = await proof.read(_up_to(client.export(run_id), run.head_sequence))
    return _tell(options, proof, breach or proof.compare(head, "the given value") or proof.compare_run(run))


async def _verify_file(options: Options, source: str, head: bytes | None, live: bool) -> int:
    lines = lines_of(blocks_of(source))
    first = await anext(lines, b"")
    run = await known_run(options, _run_id(first))
    proof = _Proof(live=live or (run is not None and not run.finished))
    breach = await proof.read(_again(first, lines))
    if breach is None:
        breach = proof.compare(head, "the given value")
    if breach is None and run is not None:
        breach = proof.compare_run(run)
    return _tell(options, proof, breach)


class _Proof:
    """A verifier, and the first thing that it found."""

    def __init__(self, *, live: bool) -> None:
        self._verifier = Verifier(live=live)
        self.count = 0

    async def read(self, lines: AsyncIterable[bytes]) -> Breach | None:
        """Take the whole log; the first breach, if there is one."""
        async for line in lines:
            for breach in self._verifier.feed(line):
                return breach
        self.count = self._verifier.count
        if not self.count:
            return Breach(0, "SEQ-1", "the log holds no event")
        return next(iter(self._verifier.close()), None)

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


def _run_id(line: bytes) -> str | None:
    try:
        return decode_envelope(line).run_id
    except MalformedEnvelope:
        # The proof will say so.
        return None


async def _again(first: bytes, rest: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    if first:
        yield first
    async for line in rest:
        yield line


async def _up_to(lines: AsyncGenerator[bytes], last: int) -> AsyncGenerator[bytes]:
    """The lines up to a sequence, so that a run that goes on meanwhile still fits the chain value that we know."""
    async with aclosing(lines):
        async for line in lines:
            yield line
            if decode_envelope(line).sequence >= last:
                return
