"""Adding tasks to the partitions of a queue. A queue without partitions is partition 0 alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Iterable

from partitions import Map, Partitions, named_partition, slot_of_task, tag_of
from records import DIGITS, new_task, whole
from rest import Call, Redis

REGISTER_EVERY = 60.0  # seconds


class Notes:
    """The registry's notes of the partitions that this process uses, once a minute each."""

    def __init__(self, partitions: Partitions):
        self._partitions = partitions
        self._noted: dict[str, float] = {}  # by name

    def due(self, partitions: Iterable[int]) -> list[int]:
        """Those that are to be noted."""
        now, name = time.monotonic(), self._partitions.name
        return [p for p in partitions if now - self._noted.get(name(p), float("-inf")) >= REGISTER_EVERY]

    def calls(self, partitions: list[int]) -> list[Call]:
        """What goes in front, in the same request."""
        return [("sweep/register", "", ["", *map(self._partitions.name, partitions)])] if partitions else []

    def done(self, partitions: list[int]) -> None:
        """The request with the calls was answered."""
        self._noted.update(dict.fromkeys(map(self._partitions.name, partitions), time.monotonic()))


@dataclass
class NewTask:
    """A task on its way."""

    options: dict[str, Any]
    args: list[str]
    slot: int | None = None
    answer: int | str | None = None


class Producer:
    def __init__(self, redis: Redis, partitions: Partitions):
        self._redis, self._partitions = redis, partitions
        self._notes = Notes(partitions)
        self._with_settings: dict[int, str] = {}

    def enqueue(self, tasks: Iterable[dict[str, Any]]) -> list[tuple[str, bool]]:
        new = [NewTask(options, new_task(**options)) for options in tasks]
        whole("the number of tasks", len(new), 1, 1_000)
        was_known = self._partitions.known
        if was_known:
            self._complete_ids(new)
        # An earlier copy of a request that finds markers may have added tasks before these were there.
        self._partitions.over(lambda: self._add_all(new, self._partitions.known and not was_known))
        # A text is the id of the task to which the dedup key belongs.
        return [(t.answer, False) if isinstance(t.answer, str) else (t.args[0], t.answer == 1) for t in new]

    def _add_all(self, new: list[NewTask], resent: bool) -> None:
        map, tries = self._partitions.map(), 0
        while self._add(map, new, resent or tries > 0):
            map, tries = self._partitions.moved(map, tries), tries + 1

    def _complete_ids(self, new: list[NewTask]) -> None:
        """Generated ids say where their tasks are. Those without a slot go to one partition."""
        slots = [slot_of_task(**task.options) for task in new]
        home = f"~{DIGITS[self._partitions.home(slots.count(None))]}"
        for task, slot in zip(new, slots):
            if task.options.get("id") is None:
                task.args[0] += home if slot is None else tag_of(slot)

    def _add(self, map: Map, new: list[NewTask], resent: bool) -> bool:
        """Sends the tasks without an answer. Returns whether a partition has answered `moved`."""
        parts: dict[int, list[NewTask]] = {}
        if self._partitions.known:
            for task in new:
                task.slot = slot_of_task(**task.options)
            self._ask_former(map, [task for task in new if task.answer is None], resent)
        for task in new:
            if task.answer is None:
                named = named_partition(task.args[0]) or 0
                parts.setdefault(named if task.slot is None else map.owner(task.slot), []).append(task)
        return bool(parts) and self._send(map, parts)

    def _send(self, map: Map, parts: dict[int, list[NewTask]]) -> bool:
        noted = self._notes.due(parts)
        calls = []
        for partition, tasks in parts.items():
            slots = sorted({task.slot for task in tasks if task.slot is not None})
            says = f"{map.version}:{','.join(str(slot) for slot in slots)}" if slots else "-"
            settings = "1" if partition in noted else self._with_settings.get(partition, "")
            calls.append(self._call(partition, settings, says if self._partitions.known else "", tasks))
        replies = self._redis.run(*self._notes.calls(noted), *calls)[-len(calls) :]
        self._notes.done(noted)
        moved = False
        for (partition, tasks), (looked, *answers) in zip(parts.items(), replies):
            if looked == "moved":
                moved = True
                continue
            # In front of them is what this client ignores: whether to wake a consumer.
            for task, answer in zip(tasks, answers[1:]):
                task.answer = answer
            if looked >= 0:
                self._with_settings[partition] = "1" if looked else ""
        return moved

    def _ask_former(self, map: Map, new: list[NewTask], resent: bool) -> None:
        """Answers what partitions know that once owned the slots of the tasks."""
        parts: list[tuple[int, list[NewTask]]] = []
        for digit in map.former:
            # A generated id is new, unless an earlier copy of the request has added it.
            tasks = [t for t in new if t.slot is not None and (resent or t.options.get("id") is not None or t.args[2])]
            tasks = [task for task in tasks if map.owners[task.slot] != digit]
            if tasks:
                parts.append((DIGITS.index(digit), tasks))
        calls: list[Call] = [
            ("partitions/ask-former", self._partitions.name(partition), ["", "", "", *(a for t in tasks for a in t.args)])
            for partition, tasks in parts
        ]
        for (_, tasks), (_, _, *answers) in zip(parts, self._redis.run(*calls) if calls else []):
            for task, answer in zip(tasks, answers):
                if answer != -1:
                    task.answer = answer

    def _call(self, partition: int, settings: str, slots: str, tasks: list[NewTask]) -> Call:
        args = [arg for task in tasks for arg in task.args]
        return ("kernel/enqueue", self._partitions.name(partition), ["", settings, "", "", slots, *args])
