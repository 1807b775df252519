"""A program that speaks ACP as the recorded ones do. Its first argument says what it is like: `open`, or `locked` (it lets nobody in).

It asks before it runs the command that it is prompted with, wants to write a file through its client, and waits when it is
told to `wait`.
"""

import json
import subprocess
import sys


def tell(**frame: object) -> None:
    """Write one frame."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def update(which: str, **members: object) -> None:
    """Tell what happens in the session."""
    tell(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": which, **members}})


def hear() -> dict[str, object]:
    """The next frame of the client's; the end of its words ends this program."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    heard: dict[str, object] = json.loads(line)
    return heard


def work(command: str) -> str:
    """Ask, and run the command if that is allowed; why it stopped."""
    if command == "wait":
        update("agent_message_chunk", content={"type": "text", "text": "Waiting."})
        while hear().get("method") != "session/cancel":
            pass
        return "cancelled"
    call = {"toolCallId": "run_shell_command__1", "title": command, "kind": "execute", "status": "pending"}
    options = [
        {"optionId": "yes", "kind": "allow_once", "name": "Yes"},
        {"optionId": "no", "kind": "reject_once", "name": "No"},
    ]
    tell(id=0, method="session/request_permission", params={"sessionId": "s1", "toolCall": call, "options": options})
    answer = hear()
    if "yes" in json.dumps(answer):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        content = [{"type": "content", "content": {"type": "text", "text": done.stdout}}]
        output = {"metadata": {"exit": done.returncode}}
        call_id = call["toolCallId"]
        update("tool_call_update", toolCallId=call_id, status="completed", content=content, rawOutput=output)
    tell(id=1, method="fs/write_text_file", params={"sessionId": "s1", "path": "/a", "content": ""})
    refused = hear().get("error")
    update("agent_message_chunk", content={"type": "text", "text": "Done." if refused else "Written."})
    return "end_turn"


def main() -> None:
    """Answer until nobody asks any more."""
    locked = sys.argv[1:] == ["locked"]
    while True:
        frame = hear()
        method, params = frame.get("method"), frame.get("params")
        if method == "initialize":
            tell(id=frame["id"], result={"protocolVersion": 1, "authMethods": [{"id": "some-api-key", "name": "Key"}]})
        elif method == "authenticate":
            tell(id=frame["id"], result={})
        elif method == "session/new" and locked:
            tell(id=frame["id"], error={"code": -32000, "message": "Authentication required"})
        elif method == "session/new":
            tell(id=frame["id"], result={"sessionId": "s1"})
        elif method == "session/prompt" and isinstance(params, dict):
            tell(id=frame["id"], result={"stopReason": work(params["prompt"][0]["text"])})


if __name__ == "__main__":
    main()
