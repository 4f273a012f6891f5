"""`python tools/results.py FOLDER`: make RESULTS.md and the table of docs/benchmarks.md from the lines in results/.

Evaluations that older versions finished, and left as plain files, are compressed first.

FOLDER holds the published costs of LKH-3, a file `lkh-BED.npz` for each bed, to which all gaps of Tables 1 and 2 are.
"""

import argparse
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from fairway import atomic
from fairway.evaluate.outcomes import TIMES, pack, read_results
from fairway.evaluate.overview import put_into, results_table
from fairway.evaluate.report import report

ROOT = Path(__file__).parent.parent
PAGES = (
    "main", "large", "mask-steps", "equal-instance-time", "equal-total-time", "overlap", "time-limits",
    "hybrid", "fine-tuning", "longer-inference", "schedule", "normalisation", "lambda", "count",
    "dumas", "start-nodes", "training-time", "beams", "guided",
)  # fmt: skip
"""Those of the report that stand in RESULTS.md."""
TITLE = """# Results

Every table here is made of the lines in [results](results) by `python tools/results.py FOLDER`; `fairway report` makes
all others of the paper, and the pictures. How the lines were taken: [evaluation](docs/evaluation.md),
[models](docs/models.md), [gfacs](docs/gfacs.md).

"""


def pack_finished(root: Path) -> None:
    """Compress what was finished and is not."""
    for path in root.glob("*/*/*.jsonl"):
        if not path.name.endswith(TIMES):
            results = read_results(path)
            if len(results.outcomes) == results.header.count:
                pack(path, results)


def main() -> None:
    """Report into a folder that is thrown away, and keep some pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    files = sorted(parser.parse_args().folder.glob("lkh-*.npz"))
    references = {file.stem.removeprefix("lkh-"): file for file in files}
    pack_finished(ROOT / "results")
    with TemporaryDirectory() as out:
        written = report(ROOT / "results", Path(out), references)
        words = written.index.read_text().split("\n| |")[0].removeprefix("# Results\n\n")
        pages = [(Path(out) / f"{page}.md").read_text() for page in PAGES]
    # A page becomes a chapter, and its pictures stay with the report.
    chapters = [re.sub(r"!\[.*\n+", "", re.sub(r"(?m)^#", "##", page)) for page in pages]
    whole = TITLE + "\n\n".join(part.strip() for part in (words, *chapters)) + "\n"
    atomic.write_bytes(ROOT / "RESULTS.md", whole.encode())
    put_into(ROOT / "docs" / "benchmarks.md", results_table(written.measured))


if __name__ == "__main__":
    main()
