"""Money, for people. One dollar is 1,000,000 micros."""


def dollars(micros_usd: int) -> str:
    """An amount of money: exact below a dollar, so that little is not shown as nothing, and else to the cent."""
    if micros_usd >= 1_000_000:
        return f"${micros_usd / 1_000_000:.2f}"
    digits = f"{micros_usd:06d}"
    return f"$0.{digits[:2]}{digits[2:].rstrip('0')}"
