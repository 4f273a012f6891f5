"""Speed and memory, as ratios taken in one run and printed only where the answers agree."""
