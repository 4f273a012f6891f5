"""`python tools/release.py FOLDER`: list what the wheel and the sdist there hold, and refuse what does not belong.

Version, size and contents: nothing compiled, no caches, no results, and in the wheel all data that the package reads.
"""

import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

from fairway import __version__

LARGEST = 8_000_000
"""Bytes of each file."""
WHEEL = {"fairway", f"fairway-{__version__}.dist-info"}
SDIST = {
    ".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "LOG.md", "Makefile", "PKG-INFO",
    "README.md", "RESULTS.md", "SECURITY.md", "benchmarks", "constraints.txt", "docs", "mkdocs.yml", "pyproject.toml",
    "src", "tests", "tools",
}  # fmt: skip
"""What stands at the top of each."""
SUFFIXES = {
    "", ".cff", ".css", ".csv", ".cu", ".h", ".html", ".ipynb", ".js", ".json", ".md", ".npz", ".png", ".py",
    ".safetensors", ".svg", ".toml", ".txt", ".typed", ".xz", ".yml",
}  # fmt: skip
NEEDED = (
    "fairway/py.typed",
    "fairway/examples/couriers.csv",
    "fairway/kernels/moves/gpu/search.cu",
    "fairway/serve/page/index.html",
    "fairway/weights/general-tsptw.safetensors",
    "fairway/weights/general-tspdl.safetensors",
    "fairway/evaluate/references/tsptw100-hard.npz",
)


def contents(path: Path) -> dict[str, int]:
    """The files of an archive and their bytes, the sdist's without the folder that all are in."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {entry.filename: entry.file_size for entry in wheel.infolist()}
    with tarfile.open(path) as sdist:
        files = [entry for entry in sdist.getmembers() if entry.isfile()]
        return {entry.name.partition("/")[2]: entry.size for entry in files}


def faults(path: Path) -> list[str]:
    """Why an archive cannot be released, a sentence each."""
    files, wheel = contents(path), path.suffix == ".whl"
    found = []
    if f"-{__version__}" not in path.name:
        found.append(f"it is not of version {__version__}")
    if path.stat().st_size > LARGEST:
        found.append(f"it has {path.stat().st_size:,} bytes, more than {LARGEST:,}")
    for name in files:
        place = PurePosixPath(name)
        if place.parts[0] not in (WHEEL if wheel else SDIST):
            found.append(f"{name} does not belong into it")
        elif place.suffix not in SUFFIXES and place.parts[0] in ("fairway", "src"):
            found.append(f"{name} is of a kind that nothing reads")
    prefix = "" if wheel else "src/"
    found += [f"{name} is missing" for name in NEEDED if prefix + name not in files]
    return found


def listing(files: dict[str, int]) -> str:
    """Folders two levels deep, with how many files they hold and their kilobytes."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for name, size in files.items():
        folder = "/".join(PurePosixPath(name).parts[:-1][:3]) or "."
        counts[folder] += 1
        sizes[folder] += size
    return "\n".join(
        f"  {sizes[name] / 1e3:9,.0f} kB {counts[name]:5} files  {name}" for name in sorted(counts)
    )


def main() -> None:
    """Look at both archives, and end with what is wrong."""
    folder = Path(sys.argv[1])
    paths = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    if len(paths) != 2:
        sys.exit(f"release: {folder}: one wheel and one sdist are expected, not {len(paths)} files")
    wrong = []
    for path in paths:
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
        print(listing(contents(path)))
        wrong += [f"{path.name}: {fault}" for fault in faults(path)]
    if wrong:
        sys.exit("\n".join(f"release: {fault}" for fault in wrong))


if __name__ == "__main__":
    main()
