"""A client of Sluice in nothing but Python's standard library.

Written from lua/README.md and the block at the head of each script in lua/, as a client in any
language can be. Durations are milliseconds; instants, which end in ``_at``, epoch milliseconds of
Redis's clock. What goes wrong is a :class:`SluiceError`; what a queue may refuse is an answer.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Iterable, NamedTuple

from partitions import Partitions
from producer import Notes, Producer
from records import (
    NAME,
    NOTHING,
    QUEUE,
    SluiceError,
    checked,
    decode,
    encode,
    encode_error,
    encode_progress,
    escaped,
    is_reference,
    read_fixed,
    read_info,
    read_receipt,
    whole,
    write_receipt,
)
from rest import LUA, RESEND, Call, Redis, Script, WrongType  # noqa: F401
from turns import Taken, Turns

VISIT_AFTER = 4_200_000  # ms: how long a partition is idle before a sweep visits it
REFUSED_FOR = 30_000  # ms


class Settled(NamedTuple):
    """The answer to one settlement. If it is not ``ok``, nothing has changed."""

    ok: bool
    state: str  # where the task is now; `lost` or `newer` if not ok
    reason: str  # of a rejection
    at: int  # the deadline, or when it is due; 0 for none
    cancel_requested: bool


class Settlement(NamedTuple):
    """The outcome of one task; :class:`Task` explains the outcomes."""

    receipt: str
    outcome: str  # complete, reject, requeue, return or extend
    ms: int | None = None
    text: str = ""
    count: bool = True


@dataclass
class Task:
    """A task that the caller holds until ``deadline_at``, and after that until it is reclaimed."""

    queue: Queue = field(repr=False)
    id: str
    receipt: str
    attempt: int
    deadline_at: int
    enqueued_at: int
    payload: Any
    headers: dict[str, str]
    group: str

    def complete(self, result: Any = NOTHING, ttl: int | None = None) -> Settled:
        """Done. The result is kept for ``ttl``, by default the task's ``result_ttl``."""
        return self._settle("complete", ttl, "" if result is NOTHING else encode("result", result))

    def reject(self, error: Any = NOTHING, ttl: int | None = None) -> Settled:
        """Failed for good: a dead letter for ``ttl``, by default the task's ``dead_ttl``."""
        return self._settle("reject", ttl, "" if error is NOTHING else encode_error(error))

    def requeue(self, error: Any = NOTHING, delay: int = 0, count: bool = True) -> Settled:
        """Once more, after ``delay``. What has used up its attempts is rejected instead."""
        return self._settle("requeue", delay, "" if error is NOTHING else encode_error(error), count)

    def hand_back(self) -> Settled:
        """Not begun: to the front, and the attempt does not count."""
        return self._settle("unstarted")

    def extend(self, lease: int | None = None, progress: Any = NOTHING) -> Settled:
        """A deadline ``lease`` from now, by default the lease's own length; never an earlier one."""
        text = "" if progress is NOTHING else encode_progress(progress)
        settled = self._settle("extend", lease, text)
        if settled.ok:
            self.deadline_at = settled.at
        return settled

    def _settle(self, *settlement: Any) -> Settled:
        return self.queue.settle([Settlement(self.receipt, *settlement)])[0]


class Queue:
    """A queue. Each method is one request; with partitions, as a rule one or two. A dequeue that must refuse tasks has one
    more.

    It finds out by itself that the queue has partitions: its first request fails, the second one reads which there
    are, and the third one is the first again. After that it reads them once a minute.
    """

    def __init__(self, redis: Redis, name: str):
        self._redis, self.name = redis, checked("queue", name, QUEUE)
        self._partitions = Partitions(redis, name)
        self._producer = Producer(redis, self._partitions)
        self._turns = Turns(redis, self._partitions)
        self._notes = Notes(self._partitions)

    def enqueue(self, payload: Any, **options: Any) -> tuple[str, bool]:
        """Adds a task. Gives its id, and whether this call created it. Options: see `new_task`."""
        return self.enqueue_many([{"payload": payload, **options}])[0]

    def enqueue_many(self, tasks: Iterable[dict[str, Any]]) -> list[tuple[str, bool]]:
        """Adds up to 1,000 tasks; each is a dict of ``payload`` and options. A refusal adds none of them; with
        partitions, none of those that go to the same one."""
        return self._producer.enqueue(tasks)

    def dequeue(
        self, max: int = 1, lease: int = 300_000, max_bytes: int = 8_000_000, worker: str = ""
    ) -> list[Task]:
        """Leases up to ``max`` tasks, of one partition; none where the queue is empty or paused.

        A task whose payload is in an object store goes back for 30 seconds, with an error, and no attempt counts:
        this client reads no store. If the call leased only such tasks, it throws ``offload_failed``.
        """
        options = [whole("max", max, 1, 1_000), whole("lease", lease, 1), max_bytes]
        options += [f"{escaped(checked('worker', worker, NAME))} ", ';"";'] if worker else ["", ""]
        return self._readable(self._partitions.over(lambda: self._leased(options)))

    def _leased(self, options: list) -> list[Task]:
        if self._partitions.known:
            return self._turns.dequeue(lambda partition, calls: self._take(partition, options, calls))
        return self._take(0, options, []).tasks

    def _readable(self, tasks: list[Task]) -> list[Task]:
        refused = [task for task in tasks if is_reference(task.payload)]
        if not refused:
            return tasks
        error = SluiceError("offload_failed", "the payload is in an object store, which this client does not read")
        text = encode_error(error)
        self.settle(Settlement(task.receipt, "requeue", REFUSED_FOR, text, count=False) for task in refused)
        if len(refused) == len(tasks):
            raise error
        return [task for task in tasks if task not in refused]

    def _take(self, partition: int, options: list, calls: list[Call]) -> Taken:
        """Leases tasks of one partition; with other calls in the same request."""
        token, name = secrets.token_urlsafe(12), self._partitions.name(partition)
        most, lease, max_bytes, worker, info = options
        args = ["", most, lease, token, RESEND, max_bytes, worker, info]
        reply, *others = self._redis.run(("kernel/dequeue", name, args), *calls)
        for _ in range(49):
            if reply[0] != "more":
                break
            # It met only what is not to be delivered, such as cancelled tasks. The same call goes on behind them.
            args[4] = "1"
            reply = self._redis.run(("kernel/dequeue", name, args))[0]
        if reply[0] == "more":
            return Taken([], False, 0, 1, others)
        # The first is when there will be more, or the word `paused`, with when the pause ends behind it. The last may be
        # a list of new dead letters.
        if reply[0] == "paused":
            return Taken([], True, 0, reply[1], others)
        if isinstance(reply[-1], list):
            reply.pop()
        tasks = [self._task(partition, token, *reply[i : i + 5]) for i in range(1, len(reply), 5)]
        return Taken(tasks, False, tasks[-1].enqueued_at if len(tasks) == most else 0, reply[0], others)

    def _task(
        self, partition: int, token: str, id: str, delivery: int | str, number: int, deadline_at: int, record: str
    ) -> Task:
        says = read_fixed(record)
        receipt = write_receipt(partition, delivery, number, token, id)
        attempt = int(str(delivery).split(",")[0])
        payload, group = decode(says["rest"]), says.get("G", "")
        return Task(self, id, receipt, attempt, deadline_at, int(says["e"]), payload, says["headers"], group)

    def settle(self, settlements: Iterable[Settlement]) -> list[Settled]:
        """Ends or extends up to 1,000 leases; each gets an answer of its own."""
        parts: dict[int, list[tuple[int, list]]] = {}
        back: list[int] = []
        for i, (receipt, outcome, ms, text, count) in enumerate(settlements):
            partition, number, token, id = read_receipt(receipt)
            terms = [outcome] if ms is None else [outcome, str(whole("a duration", ms))]
            args = [id, f"{number},{token}", " ".join(terms if count else [*terms, "uncounted"]), text]
            parts.setdefault(partition, []).append((i, args))
            if outcome in ("requeue", "unstarted"):
                back.append(partition)
        self._partitions.known = self._partitions.known or any(parts)
        # By the token a late copy of the call is known: it leaves newer progress alone.
        token = secrets.token_urlsafe(12)
        texts = {p: ["", token, *(arg for _, args in own for arg in args)] for p, own in parts.items()}
        replies = self._partitions.over(lambda: self._settle_parts(texts, set(back)))
        answers = {i: a for own, reply in zip(parts.values(), replies) for (i, _), a in zip(own, reply)}
        in_full = ((a, "", 0, 0) if isinstance(a, str) else a for _, a in sorted(answers.items()))
        return [Settled(s not in ("lost", "newer"), s, reason, at, flag == 1) for s, reason, at, flag in in_full]

    def _settle_parts(self, texts: dict[int, list], back: set[int]) -> list[list]:
        calls: list[Call] = [("kernel/settle", self._partitions.name(p), args) for p, args in texts.items()]
        # Consumers look only at partitions that the registry notes.
        noted = self._notes.due(back) if self._partitions.known else []
        replies = self._redis.run(*self._notes.calls(noted), *calls)[len(noted) > 0 :]
        self._notes.done(noted)
        return replies

    def cancel(self, id: str, lease: int | None = None) -> str:
        """Returns ``rejected``, or ``working`` if its holder will be notified. Otherwise why not: ``not_found``,
        ``already_ended``, or ``lease_lost`` if the task has another lease number."""
        args = ["", checked("id", id, NAME), "" if lease is None else lease]
        return self._find("kernel/cancel", id, args)[0]

    def get(self, id: str) -> dict[str, Any] | None:
        """The state of a task, without its payload; None for an unknown id."""
        reply = self._find("kernel/get", id, [checked("id", id, NAME), ""])
        return None if reply == ["not_found"] else {"id": id, **read_info(*reply[:3], reply[4])}

    def _find(self, script: str, id: str, args: list) -> list:
        """Asks the likeliest partition for a task, then all others that may have it. With these it reads the map."""
        return self._partitions.over(lambda: self._ask(script, id, args))

    def _ask(self, script: str, id: str, args: list) -> list:
        partitions, unknown = self._partitions, ["not_found"]
        first, *others = partitions.having(id) if partitions.known else [0]
        [reply] = self._redis.run((script, partitions.name(first), args))
        asked = [first]
        while reply == unknown and partitions.known:
            calls: list[Call] = [(script, partitions.name(p), args) for p in others]
            *replies, text = self._redis.run(*calls, partitions.read_command())
            partitions.read(text)
            reply = next((found for found in replies if found != unknown), unknown)
            asked += others
            others = [p for p in partitions.having(id) if p not in asked]
            if not others:
                break
        return reply


def sweep(redis: Redis, limit: int = 1_000) -> dict[str, tuple[int, ...]]:
    """What cron calls every minute: by queue, how many were promoted, reclaimed, rejected, expired.

    Schedules, and what changes the number of partitions or shares limits between them, are left to the library.
    """
    swept: dict[str, tuple[int, ...]] = {}
    seen: set[str] = set()
    cursor = ""
    while cursor != "0":
        now, cursor, *page = redis.run(("sweep/list-queues", "", ["", cursor or "0", 100]))[0]
        for name, score in zip(page[::2], page[1::2]):
            # `~` reminds of schedules, and `/` is in front of how many partitions a queue has.
            if name[0] in "~/" or name in seen or _is_idle(name, score, now):
                continue
            seen.add(name)
            queue, more = name.partition("/")[0], True
            while more:
                try:
                    # Behind these are what this client ignores: records of later releases, wakes, new dead letters.
                    *counts, more = redis.run(("sweep/sweep", name, ["", limit, "", ""]))[0][:5]
                except WrongType:
                    partitions = Partitions(redis, queue)
                    if name != queue or not partitions.learn():
                        raise
                    # The next sweep finds its partitions.
                    partitions.move_notes()
                    break
                swept[queue] = tuple(map(sum, zip(swept.get(queue, (0, 0, 0, 0)), counts)))
    return swept


def _is_idle(name: str, score: int, now: int) -> bool:
    """Whether a partition has nothing to do. One that is long idle may have records to remove."""
    return "/" in name and (score > now or (score < 0 and now + score < VISIT_AFTER))
