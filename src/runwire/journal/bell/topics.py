"""What the bells are rung for beside the growth of runs. A topic says where to look, never what is there."""

QUEUE = "queue"
"""The queue may have something to do."""


def control(run_id: str) -> str:
    """Whoever works on the run, or waits for a decision about it, should look at its rows."""
    return f"control:{run_id}"
