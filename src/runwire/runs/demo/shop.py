"""The little shop that the demonstration works on: a program small enough to be read whole."""

CART = '''\
"""What somebody is about to buy."""

from prices import price_of


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, count=1):
        self.items.append((name, count))

    def total(self):
        sum = 0
        for item in self.items:
            sum = sum + price_of(item[0]) * item[1]
        return sum
'''

PRICES = '''\
"""What things cost, in cents."""

PRICES = {"apple": 40, "bread": 320, "cheese": 590}


def price_of(name):
    return PRICES[name]
'''

RECEIPT = '''\
"""What is printed at the end."""


def receipt(cart):
    lines = []
    for name, count in cart.items:
        lines.append(name + " x" + str(count))
    lines.append("total: " + str(cart.total()))
    return "\\n".join(lines)
'''

README = """\
# Shop

A cart, prices and a receipt.

## Open points

- [ ] an unknown name ends in a KeyError
- [ ] the receipt shows cents, not euros
"""

# Prints what a test runner would, in colours; the first word says which tests fail.
CHECK = """\
#!/bin/sh
green=$(printf '\\033[32m') red=$(printf '\\033[1;31m') dim=$(printf '\\033[2m') off=$(printf '\\033[0m')
failed=0
for name in cart.adds cart.totals prices.known prices.unknown receipt.lines receipt.total; do
  case " $1 " in
    *" $name "*) echo "${red}FAIL${off} $name ${dim}(0.02 s)${off}"; failed=1 ;;
    *) echo "${green}ok${off}   $name ${dim}(0.01 s)${off}" ;;
  esac
done
[ $failed = 0 ] && echo "${green}6 passed${off}" || echo "${red}some failed${off}"
exit $failed
"""

RELEASE = """\
#!/bin/sh
echo "packing shop 1.4.0"
echo "would upload shop-1.4.0.tar.gz (12 KB)"
echo "would tag v1.4.0"
"""

# Counts up in small steps, as something does that takes its time.
MEASURE = """\
#!/bin/sh
for step in 1 2 3 4 5 6; do
  printf '\\033[36mround %s.%s\\033[0m  p50 %s ms  p99 %s ms\\n' "$1" "$step" "$((40 + ($1 * 7 + step * 3) % 17))" "$((90 + ($1 * 11 + step * 5) % 41))"
  sleep 1
done
"""

FILES = {
    "README.md": README,
    "VERSION": "1.3.0\n",
    "cart.py": CART,
    "check.sh": CHECK,
    "measure.sh": MEASURE,
    "prices.py": PRICES,
    "receipt.py": RECEIPT,
    "release.sh": RELEASE,
}
