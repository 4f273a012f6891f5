"""What a stranger may do to a service: each is refused or held, and others are served meanwhile.

python -m benchmarks.service.hostile
"""

import argparse
import asyncio
import base64
import io
import json
import tempfile
import time
import zipfile
from pathlib import Path

from benchmarks.service.client import Client, hard_instance, percentile
from benchmarks.service.running import Running

TOKEN = "correct-horse-battery-staple"
HEADER = f"Authorization: Bearer {TOKEN}"
NAMES = ["<script>alert(1)</script>", '"></svg><svg onload=alert(2)>', "=HYPERLINK(1)", "@SUM(1)"]
PATHS = (
    "/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2f..%2fetc/passwd", "/page//etc/passwd",
    "/page/%00", "/../../etc/passwd", "/jobs/..%2f..%2fetc%2fpasswd", "/jobs/%00",
    "/page/....//....//etc/passwd", "/page/%252e%252e/app.py",
)  # fmt: skip
WRONG = (
    "",
    "Basic x",
    "Bearer",
    "Bearer  ",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    "Bearer \u00ff",
)


async def streams(port: int, count: int) -> dict[str, object]:
    """So many event streams of one job at a time: each hears its end, and `/health` answers meanwhile."""
    line = Client(port)
    body = json.dumps({"instance": hard_instance(40), "seconds": 15.0}).encode()
    job = (await line.ask("POST", "/jobs", body, HEADER)).json()["id"]

    async def follow() -> bool:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        writer.write(f"GET /jobs/{job}/events HTTP/1.1\r\nHost: x\r\n{HEADER}\r\n\r\n".encode())
        heard = b""
        while (part := await reader.read(1 << 16)) and b"event: end" not in heard[-20_000:]:
            heard = heard[-20_000:] + part
        writer.close()
        return b"event: end" in heard

    async def watch() -> list[float]:
        took = []
        for _ in range(100):
            began = time.monotonic()
            assert (await line.ask("GET", "/health")).status == 200
            took.append(time.monotonic() - began)
            await asyncio.sleep(0.1)
        return took

    followers = [asyncio.ensure_future(follow()) for _ in range(count)]
    took = await watch()
    ended = sum(await asyncio.gather(*followers))
    assert ended == count, f"{ended} of {count} streams heard the end"
    return {
        "streams": count,
        "heard the end": ended,
        "health p99 s": round(percentile(took, 0.99), 3),
    }


async def slow(port: int, count: int) -> dict[str, object]:
    """Heads and bodies that come in byte by byte: given up after a while, and nobody waits for them."""

    async def drip(first: bytes, part: bytes) -> tuple[float, bytes]:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)
        answer = b""
        try:
            while not answer:
                writer.write(part)
                await writer.drain()
                try:
                    async with asyncio.timeout(1.0):
                        answer = await reader.read(200)
                        break
                except TimeoutError:
                    continue
        except ConnectionError:
            pass
        writer.close()
        return time.monotonic() - began, answer[9:12]

    head = b"POST /solve HTTP/1.1\r\nHost: x\r\n"
    whole = (
        head
        + f"{HEADER}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n".encode()
    )
    heads = [drip(head, b"X-A: 1\r\n") for _ in range(count)]
    bodies = [drip(whole, b" ") for _ in range(count)]
    told = await asyncio.gather(*heads, *bodies)
    assert max(seconds for seconds, _ in told) < 45, "a slow client was not given up"
    return {
        "slow clients": 2 * count,
        "given up after s": round(max(seconds for seconds, _ in told), 1),
        "answers": sorted({status.decode() or "closed" for _, status in told}),
    }


async def refused(port: int) -> dict[str, object]:
    """Wrong tokens, tricks with paths, bodies that are too large and archives that unpack to more than memory."""
    line, told = Client(port), {}
    for given in WRONG:
        header = [] if not given else [f"Authorization: {given}"]
        answer = await line.ask("GET", "/jobs", b"", *header)
        assert answer.status in (400, 401), (given, answer)
    told["wrong tokens"] = len(WRONG)
    for path in PATHS:
        answer = await line.ask("GET", path, b"", HEADER)
        assert answer.status in (400, 404), (path, answer)
        assert b"root:" not in answer.body
        assert b"import" not in answer.body
    told["path tricks"] = len(PATHS)
    assert (await Client(port).ask("POST", "/solve", b" " * (2 << 20), HEADER)).status == 413
    for size in (100, 900):
        bomb = json.dumps({"file": {"name": "bomb.npz", "base64": _bomb(size)}}).encode()
        answer = await line.ask("POST", "/solve", bomb, HEADER)
        assert answer.status in (400, 413), answer
        told[f"bomb of {size} MB, {len(bomb) >> 10} kB"] = answer.json()["error"][:80]
    line.close()
    return told


def _bomb(megabytes: int) -> str:
    """An archive of zeros that claims to be an array."""
    content = io.BytesIO()
    with (
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("travel.npy", "w", force_zip64=True) as file,
    ):
        file.write(b"\x93NUMPY\x01\x00")
        for _ in range(megabytes):
            file.write(bytes(1 << 20))
    return base64.b64encode(content.getvalue()).decode()


async def names(port: int) -> dict[str, object]:
    """Names with markup and formulas come out of every format as text."""
    line = Client(port)
    instance = {"problem": "tour", "coordinates": [[0, 0], [3, 4], [6, 8], [0, 5], [1, 1]]}
    instance["names"] = ["Depot", *NAMES]
    for to in ("svg", "csv", "geojson", "json", "vroom.json"):
        body = json.dumps({"instance": instance, "tour": [1, 2, 3, 4], "to": to}).encode()
        answer = await line.ask("POST", "/convert", body, HEADER)
        assert answer.status == 200, answer.body
        text = answer.body.decode()
        if to == "svg":
            assert "<script" not in text
            assert "<svg onload" not in text
        if to == "csv":
            cells = [cell for row in text.splitlines() for cell in row.split(",")]
            assert not any(cell.strip('"').startswith(("=", "@")) for cell in cells), text
    line.close()
    return {"names in every format": len(NAMES)}


async def all_of(port: int, count: int) -> None:
    for told in (
        await refused(port),
        await names(port),
        await slow(port, 50),
        await streams(port, count),
    ):
        print(told, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "token"
        secret.write_text(TOKEN)
        options = ("--max-body", "1", "--max-memory", "1024", "--token-file", str(secret))
        with Running(Path(folder) / "jobs.sqlite", *options) as service:
            asyncio.run(all_of(service.port, asked.streams))
            assert service.ask("GET", "/health").json()["ready"]


if __name__ == "__main__":
    main()
