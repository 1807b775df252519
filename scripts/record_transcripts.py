"""Write what is expected of the recorded streams in tests/transcripts. Read what changes before it is kept.

`python scripts/record_transcripts.py` writes all, `FOLDER…` those of some agents.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Write the expectations."""
    sys.path.insert(0, str(ROOT))
    from tests.agents.transcripts import FOLDER, items_of, told, transcripts

    folders = sys.argv[1:] or sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
    for transcript in transcripts(*folders):
        items, outcome = items_of(transcript.agent, [transcript.raw], transcript.end)
        transcript.expected.write_text("\n".join(told(items, outcome)) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
