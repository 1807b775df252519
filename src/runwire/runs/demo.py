"""The demonstration: one task that shows every kind of thing a run can tell, without a model or a network."""

from pathlib import Path

import msgspec

from runwire.journal.disk import answering, make_folder
from runwire.runs.task import NewTask, WorkspaceSpec
from runwire.runs.tasks import Tasks, TaskView

_GREETING = 'def greet(name):\n    return "Hello, " + name\n'
_SCRIPT = {
    "turns": [
        {
            "text": "I will look at the workspace, mend the greeting and prove that it works.\n",
            "delay_ms": 400,
            "tools": [
                {
                    "name": "todo_write",
                    "input": {
                        "todos": [
                            {"content": "Read greeting.py", "status": "in_progress"},
                            {"content": "Use an f-string", "status": "pending"},
                            {"content": "Run it", "status": "pending"},
                        ]
                    },
                },
                {"name": "file_read", "input": {"path": "greeting.py"}},
                {"name": "grep", "input": {"pattern": "Hello"}},
            ],
            "usage": {"input": 1200, "output": 90},
        },
        {
            "text": "An f-string reads better.\n",
            "delay_ms": 400,
            "tools": [
                {
                    "name": "edit_file",
                    "input": {
                        "path": "greeting.py",
                        "old_text": '"Hello, " + name',
                        "new_text": 'f"Hello, {name}!"',
                    },
                }
            ],
            "usage": {"input": 1500, "output": 60},
        },
        {
            "text": "Now I would like to run it.\n",
            "delay_ms": 400,
            "tools": [
                {
                    "name": "shell_exec",
                    "input": {"command": "python3 -c 'import greeting; print(greeting.greet(\"you\"))'"},
                }
            ],
            "usage": {"input": 1700, "output": 40},
        },
        {
            "text": "Done: `greet` uses an f-string, and running it says hello to you.\n",
            "delay_ms": 400,
            "usage": {"input": 1800, "output": 50},
        },
    ]
}


async def start_demo(tasks: Tasks, folder: Path) -> TaskView:
    """Lay out the demonstration in `folder` and start it. Its command asks for an approval."""
    workspace, script = folder / "workspace", folder / "script.json"
    with answering():
        make_folder(workspace)
        (workspace / "greeting.py").write_text(_GREETING)
        script.write_bytes(msgspec.json.format(msgspec.json.encode(_SCRIPT), indent=2))
    task = NewTask(
        prompt="Make the greeting nicer and prove that it works.",
        title="A demonstration",
        model=f"scripted:{script}",
        workspace=WorkspaceSpec(path=str(workspace), mode="in_place"),
        policy={
            "rules": [{"id": "demo", "action": "ask", "tools": ["shell_exec"], "reason": "the demonstration asks"}]
        },
    )
    return await tasks.create(task, demo=True)
