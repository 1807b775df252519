"""How long a test waits for what must come. It says nothing about speed: a machine that is busy is no failure."""

PATIENCE_S = 60.0
