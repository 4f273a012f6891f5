"""`python tools/ship.py RUN NAME --command "..."`: put the policy of a training into the package, at half precision.

The card keeps what the training said of itself, and gains the commit of the code and the command. Figures on the
published beds are not in it: `fairway evaluate policy NAME` and `fairway report` make them.
"""

import argparse
import subprocess
from pathlib import Path

import torch

from fairway.policies.checkpoint import load_policy, save_policy
from fairway.weights import FOLDER


def main() -> None:
    """Read, say what is lost, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    parser.add_argument("--command", required=True, help="That made the run, or its pieces.")
    parser.add_argument("--commit", help="Of the code, where there is no git to ask.")
    asked = parser.parse_args()
    policy, card = load_policy(asked.run, torch.device("cpu"))
    commit = (
        asked.commit
        or subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    story = card.trained | {"commit": commit, "command": asked.command}
    for old in FOLDER.glob(f"{asked.name}.*"):
        old.unlink()  # or the new weights would need another name beside them
    place = save_policy(policy, FOLDER / asked.name, trained=story, half=True)
    again, _ = load_policy(place, torch.device("cpu"))
    lost = max(
        float((one - other).abs().max().detach())
        for one, other in zip(policy.parameters(), again.parameters(), strict=True)
    )
    print(f"{place}: no weight moved by more than {lost:.1e}")


if __name__ == "__main__":
    main()
