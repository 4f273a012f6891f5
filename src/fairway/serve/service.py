"""The parts of a running service, and how a request gets its answer from a worker."""

import asyncio
import math

from starlette.requests import Request

from fairway.serve.frames import Frame
from fairway.serve.jobs import Jobs
from fairway.serve.metrics import Metrics
from fairway.serve.pool import Order, Pool, QueueFull, WorkerGone
from fairway.serve.settings import Settings
from fairway.serve.store import Store

NICE = 10
"""Of the workers that solve: whoever asks for something small is not to wait for them."""
AT_DESK = 2
"""Workers for what is quick: one that is not does not hold up the others."""
DESK_SECONDS = 30.0
"""That reading, judging and converting may take."""
SPARE = 30.0
"""Seconds for reading and writing beside those asked for, after which a worker is given up."""
FINISHING = 5.0
"""Seconds after SIGTERM in which requests are still solved as they asked; then they get the best so far."""


class Refused(Exception):
    """A request that is not served, and why."""

    def __init__(self, status: int, sentence: str, wait: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence
        self.headers = {} if wait is None else {"Retry-After": str(wait)}


class ClientGone(Exception):
    """Nobody is left to be answered."""


class Service:
    """Workers that solve, workers at the desk for what is quick, the jobs and the counters."""

    def __init__(self, settings: Settings) -> None:
        self.settings, limits = settings, settings.limits
        self.solvers = Pool(settings.workers, settings.queue, limits, NICE, solves=True)
        self.desk = Pool(AT_DESK, settings.queue, limits, NICE // 2, solves=False)
        self.store = Store(settings.store)
        self.seconds = limits.max_seconds + SPARE
        self.jobs = Jobs(self.store, self.solvers, self.seconds, 3600 * settings.keep_hours)
        self.metrics = Metrics()
        self._orders: set[Order] = set()
        self.streams = 0
        """Event streams that are open."""

    async def start(self) -> None:
        """Start workers and take up jobs."""
        self.desk.start()
        self.solvers.start()
        await self.jobs.start()

    async def drain(self) -> None:
        """On SIGTERM: jobs are parked; requests are answered, soon."""
        await self.jobs.park()
        await asyncio.sleep(FINISHING if self._orders else 0.0)
        for order in self._orders:
            order.stop()

    async def close(self) -> None:
        """Let everything go."""
        await self.desk.close()
        await self.solvers.close()
        await self.store.close()

    async def solved(
        self, verb: str, body: bytes, request: Request, options: dict[str, float] | None = None
    ) -> Frame:
        """The answer of a worker that solves."""
        order = Order(verb, body, self.seconds, options=options)
        return await self._answered(self.solvers, order, request)

    async def handled(self, verb: str, body: bytes, request: Request) -> Frame:
        """The answer of a worker at the desk."""
        return await self._answered(self.desk, Order(verb, body, DESK_SECONDS), request)

    def full(self) -> Refused:
        """The refusal where too many wait, with a guess at when fewer will."""
        share = self.solvers.waiting * self.solvers.pace / self.settings.workers
        wait = max(1, math.ceil(min(share, 60.0)))
        return Refused(429, f"too many requests wait already; try again in {wait} s", wait)

    async def _answered(self, pool: Pool, order: Order, request: Request) -> Frame:
        """The answer to an order, unless the client goes away first, which frees the worker."""
        self._orders.add(order)
        work = asyncio.ensure_future(pool.perform(order, bounded=True))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                raise ClientGone
            answer = work.result()
        except QueueFull as error:
            raise self.full() from error
        except WorkerGone as error:
            raise Refused(500, "the process that worked on the request was lost") from error
        finally:
            gone.cancel()
            self._orders.discard(order)
        if answer.head["status"] != 200:
            raise Refused(answer.head["status"], answer.head["error"])
        return answer


async def _gone(request: Request) -> None:
    """Return when the client has closed its connection; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
