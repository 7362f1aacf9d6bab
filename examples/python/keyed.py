"""Enqueues that first look at a key, and may change an earlier task: made from lua/debounce.md."""

from __future__ import annotations

import re
import secrets
from typing import Any, Callable, NamedTuple

from partitions import Map, numbers, slot_of, tag_of
from records import NAME, SluiceError, checked, new_task, whole
from sluice import Queue

ANYWHERE = re.compile(r"[0-9A-Za-z]{20}(?:[0-9A-Za-z]{2}|\{\d+\})?")
"""Generated ids. Readers look for them in all partitions."""


class Outcome(NamedTuple):
    """What an enqueue has done, and to which task."""

    id: str
    outcome: str  # created, replaced, dropped or appended


class Keyed:
    """The enqueues of a queue with a key. They also take the options of a task, except ``dedup``; only `replace` takes
    ``again``. Each is one request; with partitions there is one more for each former one.
    """

    def __init__(self, queue: Queue):
        self._redis, self._partitions, self._notes = queue._redis, queue._partitions, queue._notes

    def debounce(
        self, payload: Any, key: str, wait: int, max_wait: int | None = None, keep: str = "last", **options: Any
    ) -> Outcome:
        """Joins the calls with a key into one task, which is due ``wait`` after the last of them, and at the latest
        ``max_wait`` after the first. It gets the ``last`` payload, the ``first``, or ``all`` in a list."""
        _refuse(options, "dedup", "again", "delay", "at")
        limit = "" if max_wait is None else whole("max_wait", max_wait, 1)
        which = _one_of("keep", keep, "last", "first", "all")
        extra = [checked("key", key, NAME), whole("wait", wait, 1), limit, which, ""]
        if keep == "all":
            if isinstance(payload, (bytes, bytearray)):
                raise SluiceError("bad_argument", "Redis cannot join payloads of bytes into a list")
            payload = [payload]
        return self._enqueue("enqueue-debounced", key, extra, payload, options)

    def throttle(self, payload: Any, key: str, most: int, per: int, excess: str = "drop", **options: Any) -> Outcome:
        """Adds at most ``most`` tasks of a key in a period. The others are dropped; or with ``delay`` due later."""
        _refuse(options, "dedup", "again", *(["at"] if excess == "delay" else []))
        extra = [checked("key", key, NAME), whole("most", most, 1, 1_000_000), whole("per", per, 1)]
        extra += [_one_of("excess", excess, "drop", "delay")]
        return self._enqueue("enqueue-throttled", key, extra, payload, options)

    def singleton(self, payload: Any, key: str, blocks: str, then: str = "drop", **options: Any) -> Outcome:
        """Keeps one task of a key. If one is ``waiting``, or ``unfinished``, the new one is dropped (``drop``), the one
        that waits gets the new payload and options (``replace``), or that is cancelled (``cancel``)."""
        _refuse(options, "dedup", "again")
        extra = [checked("key", key, NAME), _one_of("blocks", blocks, "waiting", "unfinished")]
        extra += [_one_of("then", then, "drop", "replace", "cancel"), ""]
        return self._enqueue("enqueue-single", key, extra, payload, options)

    def replace(self, payload: Any, id: str, **options: Any) -> Outcome:
        """Replaces the payload and the options of the task, if no consumer has begun it. Adds it if it is not known."""
        _refuse(options, "dedup")
        return self._enqueue("enqueue-or-replace", checked("id", id, NAME), [], payload, {**options, "id": id})

    def forget(self, key: str) -> bool:
        """The next call with the key is as its first. Tasks stay as they are. Gives whether the key was known."""
        args = ["", checked("key", key, NAME), secrets.token_urlsafe(12)]

        def forget() -> bool:
            all = self._partitions.map().all() if self._partitions.known else [0]
            replies = self._redis.run(*(("debounce/forget-key", self._partitions.name(p), args) for p in all))
            return [1] in replies

        return self._partitions.over(forget)

    def _enqueue(self, script: str, key: str, extra: list, payload: Any, options: dict[str, Any]) -> Outcome:
        task = new_task(payload, **options)
        if options.get("id") is None:
            # By its token a copy of the call is known.
            task[3] = f";t={secrets.token_urlsafe(12)}{task[3]}"
        name, slot = task[0], slot_of(key)

        def send(partition: int, slots: str) -> list:
            noted = self._notes.due([partition]) if slots != "?" else []
            call = (f"debounce/{script}", self._partitions.name(partition), ["", "", slots, *task, *extra])
            reply = self._redis.run(*self._notes.calls(noted), call)[-1]
            self._notes.done(noted)
            return reply

        def place() -> Outcome:
            map, tries = self._partitions.map(), 0
            if not self._partitions.known:
                return _outcome(send(0, ""))
            if options.get("id") is None:
                task[0] = name + tag_of(slot)
            elif not ANYWHERE.fullmatch(name) and slot_of(name) != slot:
                raise SluiceError("bad_argument", f"the id must have {{{key}}} in it: a task is where its key is")
            while (reply := self._ask(send, map, slot)) == ["moved"]:
                map, tries = self._partitions.moved(map, tries), tries + 1
            return _outcome(reply)

        return self._partitions.over(place)

    def _ask(self, send: Callable[[int, str], list], map: Map, slot: int) -> list:
        """The answer of the former partition that has the task of the key, else that of the owner."""
        owner = map.owner(slot)
        for former in numbers(map.former):
            reply = ["unknown"] if former == owner else send(former, "?")
            if reply != ["unknown"]:
                return reply
        return send(owner, f"{map.version}:{slot}")


def _outcome(reply: list) -> Outcome:
    # `reused` needs a token that another call has; `seal` a payload that is encrypted.
    if len(reply) != 5:
        raise SluiceError("redis_error", f"the script answered {reply[0]}")
    # In front is what this client ignores: whether to read settings, to wake a consumer, and when the task is due.
    return Outcome(reply[4], reply[3])


def _refuse(options: dict[str, Any], *names: str) -> None:
    for name in names:
        if name in options:
            raise SluiceError("bad_argument", f"{name} must not be given here")


def _one_of(what: str, value: Any, *allowed: str) -> str:
    if value not in allowed:
        raise SluiceError("bad_argument", f"{what} must be one of {', '.join(allowed)}")
    return value
