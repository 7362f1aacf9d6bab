"""From which partition a consumer takes tasks: from the one whose next task has waited longest."""

from __future__ import annotations

import random
import time
from typing import Callable, NamedTuple

from partitions import Partitions
from rest import Call, Redis

WORK_FOR = 1.0  # seconds: how long what was read of the registry counts
HEAD_FOR = 5.0  # seconds: how long what was seen of a partition says whether its turn has come
LOOK_EVERY = 0.25  # seconds between two looks at one partition
IDLE_AFTER = 120_000  # ms: how old the note of a partition must be that is to be recorded as idle


class Taken(NamedTuple):
    """What a dequeue from one partition, and the calls in the same request, have answered."""

    tasks: list
    paused: bool
    oldest_at: int  # when the next ready task was enqueued; 0: none is ready
    due_at: int  # when more will be ready; 0: not known
    others: list[list]


class Head(NamedTuple):
    """What was seen of a partition."""

    oldest_at: int
    due_at: int
    seen_at: float


Take = Callable[[int, "list[Call]"], Taken]


class Turns:
    def __init__(self, redis: Redis, partitions: Partitions):
        self._redis, self._partitions = redis, partitions
        self._scores: dict[int, int] = {}
        self._now, self._read_at = 0, float("-inf")  # Redis's time in ms, and when that was
        self._heads: dict[int, Head] = {}

    def dequeue(self, take: Take) -> list:
        """Takes tasks from one partition, with ``take``. Without any, it looks at all that have work."""
        begun = time.monotonic()
        home, *others = self._order() or [None]
        # The one that was seen longest ago.
        seconds = sorted(others, key=self._seen_at)[:1]
        is_old = begun - self._read_at >= WORK_FOR
        if home is not None:
            taken = self._exchange(take, home, [p for p in seconds if begun - self._seen_at(p) > LOOK_EVERY], is_old)
            if taken.tasks or taken.paused:
                return taken.tasks
        # A producer may have noted a partition just now.
        self._exchange(None, None, [p for p in self._order() if self._seen_at(p) < begun], self._read_at < begun)
        for partition in self._order():
            if partition == home or self._is_empty(partition, begun):
                continue
            taken = self._exchange(take, partition, [], False)
            if taken.tasks or taken.paused:
                return taken.tasks
        self._note_idle(begun)
        return []

    def _exchange(self, take: Take | None, partition: int | None, looks: list[int], read: bool) -> Taken:
        """One request: takes from a partition, looks at others, and reads which of them have work."""
        name, all = self._partitions.name, self._partitions.map().all()
        calls: list[Call] = [("partitions/head", name(p), []) for p in looks]
        if read:
            calls.append(("partitions/list-work", "", ["", *map(name, all), f"/{self._partitions.queue}"]))
        taken = Taken([], False, 0, 0, [])
        if take is not None and partition is not None:
            taken = take(partition, calls)
            self._heads[partition] = Head(taken.oldest_at, taken.due_at, time.monotonic())
        elif calls:
            taken = taken._replace(others=self._redis.run(*calls))
        for look, (oldest_at, due_at) in zip(looks, taken.others):
            self._heads[look] = Head(oldest_at, due_at, time.monotonic())
        if read:
            self._now, *scores, count = taken.others[-1]
            self._scores, self._read_at = dict(zip(all, scores)), time.monotonic()
            if count > all[-1] + 1:
                self._partitions.forget()
        return taken

    def _order(self) -> list[int]:
        """The partitions that may have work. What is not known of comes first, and what had no tasks last."""
        active = [p for p in self._partitions.map().all() if 0 < self._scores.get(p, 1) <= max(self._now, 1)]
        random.shuffle(active)
        return sorted(active, key=self._age)

    def _age(self, partition: int) -> float:
        head = self._heads.get(partition)
        if head is None or time.monotonic() - head.seen_at > HEAD_FOR:
            return 0
        return head.oldest_at or float("inf")

    def _seen_at(self, partition: int) -> float:
        head = self._heads.get(partition)
        return head.seen_at if head else float("-inf")

    def _is_empty(self, partition: int, since: float) -> bool:
        """Whether a partition was seen since then, without tasks that are ready or due."""
        head = self._heads.get(partition)
        if head is None or head.seen_at < since or head.oldest_at:
            return False
        return head.due_at == 0 or head.due_at > self._now + (time.monotonic() - self._read_at) * 1_000

    def _note_idle(self, since: float) -> None:
        idle: list = []
        for partition, score in self._scores.items():
            if 0 < score <= self._now - IDLE_AFTER and self._seen_at(partition) >= since:
                if self._is_empty(partition, since):
                    until = self._heads[partition].due_at or -score
                    idle += [self._partitions.name(partition), score, until]
        if idle:
            self._redis.run(("partitions/set-idle", "", idle))
