"""In which partition of a queue a task is, made from lua/partitions.md."""

from __future__ import annotations

import binascii
import functools
import itertools
import re
import time
from typing import Any, NamedTuple

from records import DIGITS, SluiceError
from rest import Redis

SLOTS = 256
READ_EVERY = 60.0  # seconds
MOST_MOVES = 40
PAUSE = 0.025  # seconds between two looks at a map that changes
TASKS_IN_A_ROW = 100
STORED_MAP = re.compile(r"1;(\d+);([0-9A-Za-z]{256});((?:[0-9A-Za-z]{256})?);([0-9A-Za-z]*);(\d+)")


def slot_of(name: str) -> int:
    """The slot of an id, group or dedup key. If it has something in braces, only that counts."""
    tag = re.search(r"\{([^}]*)\}", name)
    return binascii.crc_hqx((tag and tag[1] or name).encode(), 0) % SLOTS


@functools.lru_cache(None)
def tag_of(slot: int) -> str:
    """What a generated id of a task with a slot ends with."""
    return next(f"{{{number}}}" for number in itertools.count() if slot_of(str(number)) == slot)


def slot_of_task(
    id: str | None = None, group: str | None = None, dedup: tuple[str, int] | None = None, **_: Any
) -> int | None:
    """The slot that a task's group, id and dedup key have, or `bad_argument` if they differ. None without any."""
    names = [name for name in (group, id, dedup and dedup[0]) if name is not None]
    if len({slot_of(name) for name in names}) > 1:
        example = f'"{names[1]}{{{names[0]}}}"'
        message = f"id, dedup key and group must be in one partition: put one in braces, such as {example}"
        raise SluiceError("bad_argument", message)
    return slot_of(names[0]) if names else None


def name_of(queue: str, partition: int) -> str:
    """The partition as keys and the registry name it."""
    return f"{queue}/{partition}" if partition else queue


def named_partition(id: str) -> int | None:
    """The partition that a generated id names."""
    return DIGITS.index(id[-1]) if re.fullmatch(r"[0-9A-Za-z]{20}~[0-9A-Za-z]", id) else None


def numbers(digits: str) -> list[int]:
    """The partitions that a part of a map names."""
    return sorted(DIGITS.index(digit) for digit in set(digits))


class Map(NamedTuple):
    """Which partition owns which slot. A partition is a digit."""

    version: int
    owners: str  # one digit for each slot
    next: str  # the same, while slots change hands
    former: str  # those that had other slots, and may know ids of them
    not_before: int  # 0 once slots may change hands

    def owner(self, slot: int) -> int:
        return DIGITS.index(self.owners[slot])

    def all(self) -> list[int]:
        """Those that may have tasks."""
        return numbers(self.owners + self.next + self.former)


def read_map(text: str | None) -> Map:
    """A map as it is stored. Without one, partition 0 owns all slots."""
    if not text:
        return Map(0, "0" * SLOTS, "", "", 0)
    match = STORED_MAP.fullmatch(text)
    if not match:
        raise SluiceError("redis_error" if text.startswith("1;") else "newer_schema", "the map is unreadable")
    version, owners, following, former, not_before = match.groups()
    return Map(int(version), owners, following, former, int(not_before))


def write_map(map: Map) -> str:
    return "1;" + ";".join(str(part) for part in map)


def owned(owners: str, digit: str) -> str:
    """The slots of a partition as it notes them: four in each hex digit, the lowest in its lowest bit."""
    slots = [2 ** (slot % 4) if owner == digit else 0 for slot, owner in enumerate(owners)]
    return "".join(f"{sum(slots[first : first + 4]):x}" for first in range(0, SLOTS, 4))


class Partitions:
    """The partitions of a queue. Of a queue that is not known to have any, nothing is read."""

    def __init__(self, redis: Redis, queue: str, known: bool):
        self._redis, self.queue, self.known = redis, queue, known
        self._map, self._read_at, self._placed = read_map(None), float("-inf"), 0

    def map(self) -> Map:
        """The map, read once a minute."""
        if self.known and time.monotonic() - self._read_at >= READ_EVERY:
            self._remember(self._fetch())
        return self._map

    def forget(self) -> None:
        """The map has changed."""
        self._read_at = float("-inf")

    def home(self, count: int) -> int:
        """Where ``count`` tasks without a slot go. Producers begin with the same one, so that others are idle."""
        self._placed += count
        owners = numbers(self.map().owners)
        return owners[(int(time.time()) // 600 + self._placed // TASKS_IN_A_ROW) % len(owners)]

    def having(self, id: str) -> list[int]:
        """Those that may have a task, the likeliest first."""
        map, named = self.map(), named_partition(id)
        places = [] if named is None else [named]
        places += [map.owner(slot_of(id)), *numbers(map.former), 0]
        if re.search(r"^[0-9A-Za-z]{20}$|\{\d+\}$", id):
            # Its producer did not know of the partitions, and a group says where it is; or the slot of its tag has
            # another owner since.
            places += numbers(map.owners)
        return list(dict.fromkeys(places))

    def moved(self, stale: Map, tries: int) -> Map:
        """The map after a partition has answered `moved` for the nth time, from 0."""
        if tries >= MOST_MOVES:
            raise SluiceError("no_answer", "the partitions of the queue change; try again")
        if tries:
            time.sleep(PAUSE)
        map = self._fetch()
        if map.next and not map.not_before:
            map = self._complete(map)
        elif map == stale and not map.next:
            if self._note(map, map.owners, map.owners)[1]:
                map = self._overtaken(map)
        return self._remember(map)

    def _remember(self, map: Map) -> Map:
        self.known, self._map, self._read_at = True, map, time.monotonic()
        return map

    def _fetch(self) -> Map:
        return read_map(self._redis.command("HGET", self._redis.maps, self.queue))

    def _complete(self, map: Map) -> Map:
        """Ends a change of owners that another caller has begun."""
        kept = "".join(old if old == new else "-" for old, new in zip(map.owners, map.next))
        used, is_later = self._note(map, kept, map.owners)
        if is_later or self._note(map, map.next, map.next)[1]:
            return self._overtaken(map)
        losing = {old for old, new in zip(map.owners, map.next) if old != new}
        former = "".join(sorted(losing & used | set(map.former)))
        return self._put(map, map._replace(owners=map.next, next="", former=former))

    def _note(self, map: Map, owners: str, to: str) -> tuple[set[str], bool]:
        """Says to partitions what they own. Gives those that were in use, and whether one knows a later map."""
        digits = sorted(set(to))
        names = [name_of(self.queue, DIGITS.index(digit)) for digit in digits]
        notes = [[map.version, owned(owners, digit)] for digit in digits]
        replies = self._redis.run(*(("partitions/own-slots", name, note) for name, note in zip(names, notes)))
        is_later = any(reply[0] == "older" for reply in replies)
        return {digit for digit, reply in zip(digits, replies) if reply == [1]}, is_later

    def _overtaken(self, map: Map) -> Map:
        """The later map of which a partition knows. If it was lost, the map gets a version above it."""
        found = self._fetch()
        if found != map:
            return found
        keys = [self._redis.key(name_of(self.queue, partition), "tasks") for partition in range(len(DIGITS))]
        notes = dict(zip(DIGITS, self._redis.commands([("HGET", key, "~slots") for key in keys])))
        noted = {digit: int(note.split(";")[1]) for digit, note in notes.items() if note}
        later = map._replace(
            version=max(map.version, *noted.values()) + 1,
            next=map.next or map.owners,
            former="".join(sorted({*map.former, *noted})),
        )
        # The one who completes a change seals slots only in the owners that the map names.
        if self._note(later, "-" * SLOTS, "".join(noted.keys() - set(map.owners)))[1]:
            return self._fetch()
        return self._put(map, later)

    def _put(self, was: Map, map: Map) -> Map:
        text = write_map(was) if was.version else ""
        args = [self.queue, text, write_map(map), map.all()[-1] + 1]
        return read_map(self._redis.run(("partitions/put-map", "", args))[0][0])
