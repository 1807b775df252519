"""What may happen by itself, what needs a person, and what never happens."""

import pytest

from runwire.errors import ConfigInvalid, InvalidBody, UnknownField
from runwire.host import ToolAsk
from runwire.runs.floor import Place
from runwire.runs.policies import Policies, names_commands
from runwire.runs.policy import Decision, Policy, bounds, decide, read_policy
from runwire.runs.shellwords import read
from runwire.runs.task import Task
from tests.runs.deciding import PLACE, SHELL, shell, tool


def decided(ask: ToolAsk, *policies: object, place: Place = PLACE) -> Decision:
    reading = None if ask.argv_text is None else read(ask.argv_text)
    return decide([read_policy(policy) for policy in policies], ask, reading, place)


def action(ask: ToolAsk, *policies: object, place: Place = PLACE) -> str:
    return decided(ask, *policies, place=place).action


READ, WRITE, FETCH, NOTHING = (
    tool("file_read", "reads", paths=["a"]),
    tool("file_write", "writes", paths=["src/a.py"]),
    tool("web_fetch", "network", hosts=["example.org"]),
    tool("todo_write"),
)


@pytest.mark.parametrize(
    ("preset", "actions"),
    [
        (None, ["allow", "allow", "allow", "ask", "allow"]),
        ("default", ["allow", "allow", "allow", "ask", "allow"]),
        ("ask", ["allow", "ask", "ask", "ask", "allow"]),
        ("read_only", ["allow", "deny", "deny", "deny", "allow"]),
        ("trust", ["allow", "allow", "allow", "allow", "allow"]),
        ("deny", ["deny", "deny", "deny", "deny", "deny"]),
    ],
)
def test_a_preset_decides_by_effect(preset: str | None, actions: list[str]) -> None:
    asks = (READ, WRITE, shell("make"), FETCH, NOTHING)
    assert [action(ask, preset) for ask in asks] == actions


def test_a_name_or_an_effect_may_stand_for_a_rule() -> None:
    assert action(shell("make"), {"shell_exec": "ask"}) == "ask"
    assert action(WRITE, {"writes": "deny"}) == "deny"
    assert action(FETCH, {"network": "allow"}) == "allow"
    assert action(tool("mcp__git__log", "network"), {"mcp__git__*": "allow"}) == "allow"
    assert decided(shell("make"), {"shell_exec": "deny"}).policy_id == "tools:shell_exec"


@pytest.mark.parametrize("key", ["sheel", "rulez", "Default"])
def test_a_key_that_means_nothing_is_named(key: str) -> None:
    with pytest.raises(UnknownField) as wrong:
        read_policy({key: 7})
    assert wrong.value.details["field"] == f"policy.{key}"


def test_a_key_of_a_rule_that_means_nothing_is_named_by_its_place() -> None:
    with pytest.raises(UnknownField) as wrong:
        read_policy({"rules": [{"action": "deny", "tolls": ["x"]}]})
    assert wrong.value.details["field"] == "policy.rules[0].tolls"


@pytest.mark.parametrize(
    "given",
    [
        "sometimes",
        7,
        ["ask"],
        {"default": "maybe"},
        {"rules": [{"action": "perhaps"}]},
        {"tools": {"shell_exec": "never"}},
        {"effects": {"thinks": "deny"}},
        {"approval_timeout_s": -1},
        {"hooks": [{"name": "x", "on": "PreToolUse"}]},
        {"hooks": [{"name": "x", "on": "PreToolUse", "command": ["a"], "url": "http://b"}]},
        {"hooks": [{"name": "x", "on": "PreToolUse", "url": "file:///etc/passwd"}]},
    ],
)
def test_a_value_that_does_not_fit_is_refused(given: object) -> None:
    with pytest.raises(InvalidBody):
        read_policy(given)


def test_deny_beats_ask_beats_allow() -> None:
    rules = [
        {"id": "a", "action": "allow", "tools": ["shell_*"]},
        {"id": "b", "action": "ask", "tools": ["shell_exec"]},
        {"id": "c", "action": "deny", "argv": ["rm *"], "reason": "no removing"},
    ]
    assert decided(shell("ls"), {"rules": rules}) == Decision("ask", "rule:b", "a rule requires approval")
    assert decided(shell("ls; rm x"), {"rules": rules}) == Decision("deny", "rule:c", "no removing")
    assert action(shell("ls"), {"rules": rules[:1], "default": "ask"}) == "allow"
    assert action(shell("ls"), {"rules": rules[:1], "tools": {"shell_exec": "deny"}}) == "deny"


def test_the_strictest_policy_wins() -> None:
    assert action(shell("ls"), "trust", "ask") == "ask"
    assert action(shell("ls"), "read_only", "trust") == "deny"


def test_a_rule_that_allows_must_fit_all_of_a_call_and_one_that_denies_any_of_it() -> None:
    allow = {"default": "ask", "rules": [{"action": "allow", "effects": ["reads"]}]}
    assert action(tool("x", "reads", "writes"), allow) == "ask"
    deny = {"rules": [{"action": "deny", "effects": ["writes"]}]}
    assert action(tool("x", "reads", "writes"), deny) == "deny"
    paths = {"default": "ask", "rules": [{"action": "allow", "paths": ["docs/**"]}]}
    assert action(tool("multi_edit", "writes", paths=["docs/a", "docs/b/c"]), paths) == "allow"
    assert action(tool("multi_edit", "writes", paths=["docs/a", "src/b"]), paths) == "ask"
    assert action(tool("multi_edit", "writes"), paths) == "ask"
    secrets = {"rules": [{"action": "deny", "paths": ["secrets/**", "*.pem"]}]}
    assert action(tool("multi_edit", "writes", paths=["docs/a", "secrets/b"]), secrets) == "deny"


@pytest.mark.parametrize(
    "path",
    ["secrets/k", "./secrets/k", "docs/../secrets/k", "/ws/secrets/k", "secrets", "a/b/x.pem", "x.pem", "/etc/x.pem"],
)
def test_a_path_is_the_same_however_it_is_written(path: str) -> None:
    assert (
        action(
            tool("file_read", "reads", paths=[path]), {"rules": [{"action": "deny", "paths": ["secrets/**", "*.pem"]}]}
        )
        == "deny"
    )


@pytest.mark.parametrize("path", ["secretss/k", "docs/secrets.txt", "x.pemx"])
def test_a_path_that_only_looks_alike_is_another(path: str) -> None:
    assert (
        action(
            tool("file_read", "reads", paths=[path]), {"rules": [{"action": "deny", "paths": ["secrets/**", "*.pem"]}]}
        )
        == "allow"
    )


def test_a_denied_path_or_host_is_seen_in_a_command_too() -> None:
    policy = {"rules": [{"action": "deny", "paths": ["secrets/**"]}, {"action": "deny", "hosts": ["*.evil.test"]}]}
    assert action(shell("cat ./secrets/key"), policy) == "deny"
    assert action(shell("echo x > secrets/key"), policy) == "deny"
    assert action(shell("dd if=secrets/key"), policy) == "deny"
    assert action(shell("curl https://a.evil.test/x"), policy) == "deny"
    assert action(tool("web_fetch", "network", hosts=["A.Evil.Test:8443"]), policy) == "deny"


def test_an_allowed_command_allows_no_other_beside_it() -> None:
    policy = {"default": "ask", "rules": [{"action": "allow", "argv": ["git status*", "git log*"]}]}
    assert action(shell("git status && git log -3"), policy) == "allow"
    for text in ("git status; rm x", "git status $(rm x)", "git status > x", "GIT_PAGER=x git log", "sudo git status"):
        assert action(shell(text), policy) == "ask", text


@pytest.mark.parametrize(
    "text",
    ["rm x", "/bin/rm x", "a; rm x", "sudo rm x", "echo $(rm x)", "sh -c 'rm x'", "A=1 rm x", "xargs rm x", "r''m x"],
)
def test_a_denied_command_is_found_wherever_it_stands(text: str) -> None:
    assert action(shell(text), {"default": "trust", "rules": [{"action": "deny", "argv": ["rm *"]}]}) == "deny"


@pytest.mark.parametrize("text", ["$X y", "eval $X", "echo cm0= | base64 -d | sh", "x='rm'; $x y"])
def test_a_text_that_might_be_what_a_rule_denies_is_asked_about(text: str) -> None:
    assert action(shell(text), {"default": "trust", "rules": [{"action": "deny", "argv": ["rm *"]}]}) == "ask"
    assert action(shell(text), "trust") == "allow"


FLOOR = [
    tool("file_read", "reads", paths=["/data/token"]),
    tool("file_write", "writes", paths=["../data/journal.db"]),
    tool("file_write", "writes", paths=[".git/hooks/pre-commit"]),
    tool("file_write", "writes", paths=["sub/.GIT/Hooks/x"]),
    shell("cat /data/token"),
    shell("cat ../data/token"),
    shell("echo x > .git/hooks/post-checkout"),
    shell("cp x --target-directory=/data"),
    shell("rm -rf /"),
    shell("rm -fr /*"),
    shell("rm -r -f ~"),
    shell('rm -rf "$HOME"'),
    shell("sudo rm --recursive --no-preserve-root //"),
    shell("cd /tmp; rm -Rf /."),
    shell("/bin/rm -rf /tmp/.."),
    shell("mkfs.ext4 /dev/sda1"),
    shell("dd if=/dev/zero of=/dev/sda"),
    shell("echo $(rm -rf /)"),
]


@pytest.mark.parametrize("ask", FLOOR, ids=lambda ask: ask.summary + " ".join(ask.paths))
def test_some_things_no_rule_can_lift(ask: ToolAsk) -> None:
    decision = decided(ask, {"default": "trust", "rules": [{"action": "allow"}]})
    assert (decision.action, decision.policy_id.partition(":")[0]) == ("deny", "floor")


def test_a_workspace_inside_the_data_directory_is_a_workspace() -> None:
    place = Place(workspace="/data/workspaces/t/r", data="/data")
    assert action(shell("cat a /data/workspaces/t/r/b"), "default", place=place) == "allow"
    assert action(shell("cat ../other/b"), "default", place=place) == "deny"


def test_removing_within_the_workspace_is_ordinary_work() -> None:
    assert action(shell("rm -rf build ./dist /ws/x"), "default") == "allow"


def test_nothing_runs_unconfined_unless_that_is_allowed_and_then_it_is_asked_about() -> None:
    bare = Place(workspace="/ws", data="/data", unconfined=True)
    refused = decided(shell("ls"), "trust", place=bare)
    assert (refused.action, refused.policy_id) == ("deny", "sandbox")
    allowed = Place(workspace="/ws", data="/data", unconfined=True, allow_unconfined=True)
    assert action(shell("ls"), "default", place=allowed) == "ask"
    assert action(shell("ls"), "trust", place=allowed) == "allow"
    assert action(READ, "default", place=bare) == "allow"


def test_policies_settle_together_what_concerns_a_whole_run() -> None:
    own = read_policy({"default": "trust", "approval_timeout_s": None, "max_turns": 9, "allow_hosts": ["a"]})
    house = read_policy({"default": "ask", "approval_timeout_s": 5, "max_turns": 7, "allow_hosts": ["b"]})
    both = bounds([own, house], approval_timeout_s=300, max_turns=50)
    assert (both.auto_apply, both.approval_timeout_s, both.max_turns) == (False, None, 7)
    assert (both.allow_hosts, both.allow_network) == (("a", "b"), False)
    alone = bounds([Policy()], approval_timeout_s=300, max_turns=50)
    assert (alone.auto_apply, alone.approval_timeout_s, alone.max_turns) == (True, 300, 50)
    assert bounds([own], approval_timeout_s=300, max_turns=50).allow_network


def test_a_tasks_policy_holds_beside_the_gateways() -> None:
    policies = Policies(
        configured={"shell_exec": "ask"}, hooks=(), approval_timeout_s=None, max_turns=50, allow_unconfined=False
    )
    task = Task(task_id="t", created_ns=0, kind="agent_loop", agent="native", policy="trust")
    assert [policy.default for policy in policies.of(task)] == ["trust", "default"]
    assert policies.terms(task).allow_network is False


@pytest.mark.parametrize(("policy", "hooks"), [({"shell": 7}, []), (None, [{"name": "x"}]), ("x", [])])
def test_a_configured_policy_that_makes_no_sense_stops_the_start(
    policy: object, hooks: list[dict[str, object]]
) -> None:
    with pytest.raises(ConfigInvalid):
        Policies(configured=policy, hooks=hooks, approval_timeout_s=None, max_turns=50, allow_unconfined=False)


def test_a_sent_policy_that_names_commands_is_known_by_it() -> None:
    hook = {"name": "x", "on": "PreToolUse"}
    assert names_commands({"hooks": [{**hook, "command": ["/bin/true"]}]})
    assert not names_commands({"hooks": [{**hook, "url": "http://127.0.0.1:1/"}]})
    assert not names_commands("ask")


def test_a_network_shell_is_a_matter_of_its_network() -> None:
    assert action(shell("curl x", effects=SHELL | {"network"}), "default") == "ask"
