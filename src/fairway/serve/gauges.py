"""What a service measures of itself at the moment."""

import resource

from fairway.serve.metrics import Sample
from fairway.serve.service import Service

Gauge = tuple[str, str, str, list[Sample]]


def of(service: Service) -> list[Gauge]:
    """Workers, queues, streams, jobs and memory."""
    pools = {"solve": service.solvers, "desk": service.desk}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    ended: list[Sample] = [({"status": key}, count) for key, count in service.jobs.ended.items()]
    return [
        _by_pool(
            "fairway_workers_ready",
            "gauge",
            "Workers that take orders",
            {key: pool.ready for key, pool in pools.items()},
        ),
        _by_pool(
            "fairway_workers_busy",
            "gauge",
            "Workers at work",
            {key: pool.busy for key, pool in pools.items()},
        ),
        _by_pool(
            "fairway_workers_lost_total",
            "counter",
            "Workers that died or were given up",
            {key: pool.lost for key, pool in pools.items()},
        ),
        _by_pool(
            "fairway_queue_length",
            "gauge",
            "Orders that wait for a worker",
            {key: pool.waiting for key, pool in pools.items()},
        ),
        ("fairway_event_streams", "gauge", "Event streams that are open", [({}, service.streams)]),
        ("fairway_jobs_total", "counter", "Jobs that ended", ended),
        (
            "fairway_memory_peak_bytes",
            "gauge",
            "Most memory that the service itself had",
            [({}, memory)],
        ),
    ]


def _by_pool(name: str, kind: str, words: str, values: dict[str, int]) -> Gauge:
    return name, kind, words, [({"pool": key}, value) for key, value in values.items()]
