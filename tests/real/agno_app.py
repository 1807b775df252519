"""A real AgentOS with a scripted model, for the tests: an agent, a team and a workflow, with tools that wait for people.

Run by the Python that has Agno: `python agno_app.py DESCRIPTOR LEDGER [DATABASE]`, where the descriptor is a socket that listens. Runs
are kept in memory, or in a database on disk where one is named. Each execution of a tool adds a line to the ledger, so that
one which happens twice is seen. What a message leads to is said in `agno_model`.
"""

import socket
import sys
import time
from pathlib import Path

import uvicorn
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.db.sqlite import SqliteDb
from agno.os import AgentOS
from agno.team import Team
from agno.tools import tool
from agno.tools.user_feedback import UserFeedbackTools
from agno.workflow import HumanReview, OnReject, Step, StepInput, StepOutput, Workflow
from agno_model import Scripted

DESCRIPTOR, LEDGER, *DATABASE = sys.argv[1:]


def _note(line: str) -> None:
    with Path(LEDGER).open("a") as ledger:
        ledger.write(f"{line}\n")


def list_documents() -> dict[str, object]:
    """List the documents."""
    _note("list_documents")
    return {"count": 1, "documents": [{"id": 1, "title": "it's"}]}


@tool(requires_confirmation=True)
def create_document(title: str) -> dict[str, object]:
    """Create a document."""
    _note(f"create_document {title}")
    return {"success": True, "title": title}


@tool(requires_confirmation=True)
def delete_document(title: str) -> dict[str, object]:
    """Delete a document."""
    _note(f"delete_document {title}")
    return {"success": True}


@tool(requires_confirmation=True)
def work(seconds: float, title: str) -> str:
    """Take a while."""
    _note(f"work {title}")
    time.sleep(seconds)
    return "worked"


@tool(requires_user_input=True, user_input_fields=["to"])
def send_mail(subject: str, to: str) -> str:
    """Send a mail to somebody whom only the user knows."""
    _note(f"send_mail {subject} {to}")
    return f"sent to {to}"


@tool(external_execution=True)
def run_elsewhere(title: str) -> str:
    """Something that is never done here."""
    _note(f"run_elsewhere {title}")
    return "this is not where it is run"


def publish(given: StepInput) -> StepOutput:
    """The last step of the workflow, which takes long if it is told to."""
    _note(f"publish {given.input}")
    time.sleep(30 if str(given.input).startswith("slowly ") else 0)
    return StepOutput(content="Published.")


database = SqliteDb(db_file=DATABASE[0]) if DATABASE else InMemoryDb()
clerk = Agent(
    id="clerk",
    name="Clerk",
    model=Scripted(),
    tools=[
        *(list_documents, create_document, delete_document, work, send_mail, run_elsewhere),
        UserFeedbackTools(add_instructions=False),
    ],
    db=database,
    telemetry=False,
)
typist = Agent(id="typist", name="Typist", model=Scripted(), tools=[create_document], telemetry=False)
office = Team(
    id="office",
    name="Office",
    model=Scripted(),
    members=[typist],
    tools=[create_document],
    db=database,
    telemetry=False,
)
writer = Agent(id="writer", name="Writer", model=Scripted(), tools=[create_document], db=database, telemetry=False)
process = Workflow(
    id="process",
    name="Process",
    steps=[
        Step(name="write", agent=writer),
        Step(
            name="publish",
            executor=publish,
            human_review=HumanReview(requires_confirmation=True, confirmation_message="Publish it?"),
        ),
    ],
    db=database,
    telemetry=False,
)
drafting = Workflow(
    id="drafting",
    name="Drafting",
    steps=[
        Step(
            name="draft",
            agent=writer,
            human_review=HumanReview(
                requires_output_review=True, output_review_message="Is it good?", on_reject=OnReject.retry
            ),
        )
    ],
    db=database,
    telemetry=False,
)
app = AgentOS(agents=[clerk], teams=[office], workflows=[process, drafting], telemetry=False).get_app()

if __name__ == "__main__":
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[socket.socket(fileno=int(DESCRIPTOR))])
