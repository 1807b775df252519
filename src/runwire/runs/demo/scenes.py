"""The scenes of the demonstration: five runs that between them show every kind of thing a run can tell."""

from runwire.runs.demo.scene import Scene, Turn, says, todo, use
from runwire.runs.demo.shop import FILES

REVIEWED = "review"
"""The scene whose patches wait for a person."""

_HELPER = "Read receipt.py and say in one sentence what it prints."
_THINKING = ("assistant.thinking_delta", "assistant.thinking_complete")
_CHILDREN = ("run.child_started", "run.child_finished")
# About twenty seconds a round, so this lasts for eight hours.
_ROUNDS = 1_440

_REPORT = """\
## What I found

The shop is **small and sound**; two things stand out.

| file | what it does | worth mending |
|---|---|---|
| `cart.py` | keeps what is bought | `sum` hides a builtin |
| `prices.py` | knows what things cost | an unknown name is a `KeyError` |
| `receipt.py` | prints the end | shows cents |

```python
def price_of(name):
    return PRICES[name]  # raises KeyError
```

1. Give `price_of` an error that names the product.
2. Show euros: `f"{cents / 100:.2f} €"`.

> All six checks pass, so both can be done without fear.

- [x] read the code
- [x] run the checks
- [ ] mend it (see the run that proposes patches)
"""


def scenes() -> list[Scene]:
    """Every scene, in the order in which they are started."""
    return [_done(), _failed(), _to_review(), _waiting(), _going_on()]


def _waiting() -> Scene:
    return Scene(
        name="waiting",
        title="Demo: release the shop (waits for you)",
        prompt="Check the shop and release version 1.4.0.",
        files=FILES,
        policy={
            "rules": [
                {
                    "id": "releases",
                    "action": "ask",
                    "tools": ["shell_exec"],
                    "argv": ["*release.sh*"],
                    "reason": "a release needs a person",
                }
            ],
            "approval_timeout_s": None,
        },
        budget_micros_usd=50_000,
        turns=[
            says(
                "I run the checks first.\n",
                todo(now="Run the checks", then=["Release 1.4.0"]),
                use("shell_exec", command="sh check.sh"),
            ),
            says(
                "All green. The version goes up.\n",
                todo("Run the checks", now="Release 1.4.0"),
                use("edit_file", path="VERSION", old_text="1.3.0", new_text="1.4.0"),
            ),
            says(
                "Releasing is for ever, so **somebody has to agree**: "
                "approve it, deny it with a reason, or change the command first.\n",
                use("shell_exec", command="sh release.sh 1.4.0"),
            ),
            says("Done: version 1.4.0 is packed and tagged.\n", todo("Run the checks", "Release 1.4.0")),
            says("There is nothing more to do.\n"),
        ],
    )


def _to_review() -> Scene:
    return Scene(
        name=REVIEWED,
        title="Demo: name unknown products (patches to review)",
        prompt="Make an unknown product a clear error, show euros on the receipt, and write both down.",
        files=FILES,
        policy={"auto_apply": False},
        budget_micros_usd=50_000,
        turns=[
            says(
                "Three files change. I propose each as a patch; nothing is written until you apply it.\n",
                use("file_read", path="prices.py"),
                use("file_read", path="receipt.py"),
            ),
            says(
                "First the price of what nobody sells.\n",
                use(
                    "edit_file",
                    path="prices.py",
                    old_text="def price_of(name):\n    return PRICES[name]\n",
                    new_text="class UnknownProduct(LookupError):\n"
                    '    """The shop does not sell this."""\n\n\n'
                    "def price_of(name):\n"
                    "    if name not in PRICES:\n"
                    '        raise UnknownProduct(f"there is no {name!r}; there are {sorted(PRICES)}")\n'
                    "    return PRICES[name]\n",
                ),
            ),
            says(
                "Then the receipt and the list of open points, which belong together.\n",
                use("multi_edit", edits=_EDITS),
                use("file_write", path="CHANGES.md", content="# Changes\n\n## 1.4.0\n\n- Receipts show euros.\n"),
            ),
            says("Four files are waiting for you: apply them one by one or all at once, or reject one and say why.\n"),
        ],
    )


_EDITS = [
    {
        "path": "receipt.py",
        "old_text": '        lines.append(name + " x" + str(count))\n    lines.append("total: " + str(cart.total()))\n',
        "new_text": '        lines.append(f"{name} x{count}")\n    lines.append(f"total: {cart.total() / 100:.2f} €")\n',
    },
    {
        "path": "README.md",
        "old_text": "- [ ] an unknown name ends in a KeyError\n- [ ] the receipt shows cents, not euros\n",
        "new_text": "- [x] an unknown name is an UnknownProduct\n- [x] the receipt shows euros\n",
    },
]


def _failed() -> Scene:
    return Scene(
        name="failed",
        title="Demo: mend the receipt (failed)",
        prompt="Find out why receipt.total fails and mend it.",
        files=FILES,
        turns=[
            says(
                "I run the checks to see it fail.\n",
                use("shell_exec", command="sh check.sh receipt.total"),
                use("file_read", path="receits.py"),
            ),
            says(
                "A slip of the pen. I look for the right file.\n",
                use("glob", pattern="*.py"),
                error={"status": 529, "message": "overloaded", "times": 1, "retry_after_s": 0.5},
            ),
            says("", error={"status": 400, "message": "the demonstration ends this run with an error of its model"}),
        ],
    )


def _done() -> Scene:
    return Scene(
        name="done",
        title="Demo: look at the shop (finished)",
        prompt="Look at the shop, run its checks and tell me what is worth mending.",
        files=FILES,
        experimental=(*_THINKING, *_CHILDREN),
        budget_micros_usd=50_000,
        turns=[
            says(
                "I look around first.\n",
                todo(now="Read the code", then=["Run the checks", "Tidy up", "Report"]),
                use("glob", pattern="**/*.py"),
                use("grep", pattern="def \\w+", include="*.py"),
                use("file_read", path="cart.py"),
                thinking="The shop has three modules. The total is summed by hand; the checks will say whether it is right.",
            ),
            says(
                "Somebody else can read the receipt meanwhile.\n",
                use("spawn_agent", prompt=_HELPER),
                use("shell_exec", command="sh check.sh"),
                todo("Read the code", "Run the checks", now="Tidy up", then=["Report"]),
            ),
            says(
                "`sum` hides a builtin, which is quickly mended.\n",
                use("edit_file", path="cart.py", old_text=_SUM_BY_HAND, new_text=_SUM),
                use("shell_exec", command="git init -q . && git status --short"),
                todo("Read the code", "Run the checks", "Tidy up", now="Report"),
            ),
            says(
                _REPORT, todo("Read the code", "Run the checks", "Tidy up", "Report"), tokens=(4_200, 480), cost=2_400
            ),
            says("That is all.\n"),
        ],
        children={
            _HELPER: [
                says("", use("file_read", path="receipt.py")),
                says("It prints one line for each product and the total in cents.\n", cost=300),
            ]
        },
    )


_SUM_BY_HAND = """\
        sum = 0
        for item in self.items:
            sum = sum + price_of(item[0]) * item[1]
        return sum
"""
_SUM = """\
        return sum(price_of(name) * count for name, count in self.items)
"""


def _going_on() -> Scene:
    return Scene(
        name="going-on",
        title="Demo: measure the shop (goes on for hours)",
        prompt="Measure the shop over the day and keep me informed.",
        files=FILES,
        budget_micros_usd=1_500_000,
        max_turns=2 * _ROUNDS,
        turns=[_round(number) for number in range(1, _ROUNDS + 1)],
    )


def _round(number: int) -> Turn:
    before = [f"Round {earlier}" for earlier in range(max(1, number - 3), number)]
    text = (
        f"**Round {number}** of {_ROUNDS}. So far nothing is out of the ordinary: the median stays where it was and the "
        f"slowest of a hundred is within its bounds. I measure again and look at what the code says about it.\n"
    )
    tools = [
        todo(*before, now=f"Round {number}", then=[f"Round {number + 1}", f"Round {number + 2}"]),
        use("shell_exec", command=f"sh measure.sh {number}"),
    ]
    if number % 3 == 0:
        tools.append(use("grep", pattern="price_of", include="*.py"))
    if number == _ROUNDS:
        tools = []
    return says(text, *tools, cost=700, tokens=(6_000 + number % 40 * 50, 90), delay_ms=6_000, pace_ms=250)
