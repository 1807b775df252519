"""What is counted, under the names that Prometheus knows it by."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from runwire.gateway.services import Services


class Figures(Collector):
    """Reads the numbers when somebody asks; counting itself costs an addition."""

    def __init__(self, services: Services) -> None:
        """Read from these services."""
        self._services = services

    def collect(self) -> Iterator[Metric]:
        """Every metric as it is now."""
        yield from self._of_journal()
        yield from self._of_gateway()

    def _of_journal(self) -> Iterator[Metric]:
        figures = self._services.journal.figures()
        yield _counter("runwire_events_appended", "Events that became durable.", figures.events)
        yield _counter("runwire_commits", "Group commits.", figures.commits)
        yield _counter("runwire_commit_seconds", "Time spent committing.", figures.commit_s)
        yield _gauge("runwire_append_backlog", "Appends that wait for a commit.", figures.waiting)
        yield _gauge("runwire_unsealed_bytes", "Bytes of events that no chunk holds yet.", figures.unsealed_bytes)

    def _of_gateway(self) -> Iterator[Metric]:
        tally = self._services.tally
        yield _gauge("runwire_stream_subscribers", "Live streams.", tally.subscribers)
        yield _counter("runwire_stream_bytes", "Bytes of streamed answers.", tally.stream_bytes)
        requests = CounterMetricFamily(
            "runwire_http_requests", "Requests answered.", labels=("method", "route", "status")
        )
        for (method, route, status), count in tally.requests.items():
            requests.add_metric((method, route, str(status)), count)
        yield requests
        seconds = CounterMetricFamily(
            "runwire_http_request_seconds", "Time from request to the end of its answer.", labels=("method", "route")
        )
        for (method, route), spent in tally.seconds.items():
            seconds.add_metric((method, route), spent)
        yield seconds


def _counter(name: str, about: str, value: float) -> Metric:
    return CounterMetricFamily(name, about, value=value)


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(name, about, value=value)
