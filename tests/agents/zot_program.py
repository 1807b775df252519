"""A program that speaks `zot rpc` as the recorded one does, for machines where zot itself cannot be installed.

The prompt says what it does: `say TEXT`, `run COMMAND` (really, with its output as it comes), `slow` (words until it is stopped),
`deaf` (the same, and it does not listen), `die`, `fail`.
"""

import json
import os
import subprocess
import sys
import threading
import time

ABORT = threading.Event()
_LOCK = threading.Lock()


def tell(**event: object) -> None:
    """Write one line."""
    with _LOCK:
        sys.stdout.write(json.dumps(event, sort_keys=True, separators=(",", ":")) + "\n")
        sys.stdout.flush()


def usage() -> None:
    """Tell what a call of the model used."""
    spent = {"input": 21, "output": 5, "cache_read": 896, "cache_write": 0, "cost_usd": 0.00018825}
    tell(type="usage", **spent, cumulative=spent)


def say(text: str) -> None:
    """Answer."""
    tell(type="assistant_start")
    for at in range(0, len(text), 9):
        tell(type="text_delta", delta=text[at : at + 9])
    usage()
    tell(type="assistant_message", content=[{"type": "text", "text": text}])
    tell(type="turn_end", stop="end")


def run(command: str) -> None:
    """Call the shell, and answer."""
    call = {"id": "call_1", "name": "bash", "args": {"command": command}}
    tell(type="assistant_start")
    tell(type="tool_use_start", id=call["id"], name="bash")
    tell(type="tool_use_end", id=call["id"])
    usage()
    tell(type="assistant_message", content=[{"type": "tool_call", **call}])
    tell(type="tool_call", **call)
    tell(type="turn_end", stop="tool_use")
    process = subprocess.Popen(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = ""
    for line in process.stdout or ():
        printed += line
        tell(type="tool_progress", id=call["id"], text=line)
        if ABORT.is_set():
            process.kill()
            break
    code = process.wait()
    text = f"$ {command}\n\n{printed}\n[exit {-1 if ABORT.is_set() else code}]  Took 0.0s"
    tell(type="tool_result", id=call["id"], is_error=code != 0, content=[{"type": "text", "text": text}])
    if not ABORT.is_set():
        tell(type="turn_start", step=2)
        say("It ran.")


def slow() -> None:
    """Words until somebody stops them."""
    tell(type="assistant_start")
    while not ABORT.wait(0.02):
        tell(type="text_delta", delta="word ")
    usage()
    tell(type="turn_end", stop="aborted", error="context canceled")


def work(prompt: str) -> None:
    """Do what a prompt says."""
    tell(type="user_message", content=[{"type": "text", "text": prompt}])
    tell(type="turn_start", step=1)
    verb, _, rest = prompt.partition(" ")
    match verb:
        case "run":
            run(rest)
        case "slow" | "deaf":
            slow()
        case "die":
            os._exit(3)
        case "fail":
            tell(type="turn_end", stop="error", error="openai: http 401: no")
            tell(type="error", message="openai: http 401: no")
        case _:
            say(rest or prompt)
    tell(type="done")


def main() -> None:
    """Listen for commands."""
    token, greeted, deaf = os.environ.get("ZOTCORE_RPC_TOKEN"), False, False
    working: threading.Thread | None = None
    for line in sys.stdin:
        command = json.loads(line)
        kind, who = command["type"], command.get("id")
        answer = {"type": "response", "command": kind, "id": who, "success": True}
        if kind == "hello":
            greeted = token is None or command.get("token") == token
            told = {"protocol_version": 1, "version": "0.1.62", "provider": "openai", "model": "gpt-5"}
            tell(**(answer | ({"data": told} if greeted else {"success": False, "error": "invalid token"})))
            if not greeted:
                sys.exit(1)
        elif token is not None and not greeted:
            tell(**(answer | {"success": False, "error": "auth required: send hello with token first"}))
        elif kind == "abort":
            if not deaf:
                ABORT.set()
                tell(**answer)
        elif kind == "prompt":
            if working is not None:
                working.join()
            ABORT.clear()
            deaf = command["message"].startswith("deaf")
            tell(**answer, data={"started": True})
            working = threading.Thread(target=work, args=(command["message"],), daemon=deaf)
            working.start()
    if working is not None and not deaf:
        working.join()
    while deaf:
        time.sleep(1)


if __name__ == "__main__":
    main()
