"""In which partition of a queue a task is, made from lua/partitions.md."""

from __future__ import annotations

import binascii
import functools
import itertools
import re
import time
from typing import Any, Callable, NamedTuple, TypeVar

from records import DIGITS, SluiceError
from rest import Redis, WrongType

SLOTS = 256
READ_EVERY = 60.0  # seconds
MOST_MOVES = 40
PAUSE = 0.025  # seconds between two looks at a map that changes
TASKS_IN_A_ROW = 100
STORED_MAP = re.compile(r"1;(\d+);([0-9A-Za-z]{256});((?:[0-9A-Za-z]{256})?);([0-9A-Za-z]*);([01])")
MOST_STEPS = 10  # of one look at a change
T = TypeVar("T")


def slot_text(name: str) -> str:
    """What decides the slot of an id, group or dedup key: what it has in braces, else all of it."""
    tag = re.search(r"\{([^}]*)\}", name)
    return tag and tag[1] or name


def slot_of(name: str) -> int:
    return binascii.crc_hqx(slot_text(name).encode(), 0) % SLOTS


@functools.lru_cache(None)
def tag_of(slot: int) -> str:
    """What a generated id of a task with a slot ends with."""
    return next(f"{{{number}}}" for number in itertools.count() if slot_of(str(number)) == slot)


def slot_of_task(
    id: str | None = None, group: str | None = None, dedup: tuple[str, int] | None = None, **_: Any
) -> int | None:
    """The slot of a task's id, else of its dedup key, else of its group; None without any. `bad_argument` if id and
    dedup key differ."""
    if id is not None and dedup is not None and slot_of(id) != slot_of(dedup[0]):
        example = f'"{re.sub("[{}]", "", dedup[0])}{{{slot_text(id)}}}"'
        message = f"id and dedup key must be in one partition: put the id in braces, such as {example}"
        raise SluiceError("bad_argument", message)
    names = [name for name in (id, dedup and dedup[0], group) if name is not None]
    return slot_of(names[0]) if names else None


def name_of(queue: str, partition: int) -> str:
    """The partition as keys and the registry name it."""
    return f"{queue}/{partition}"


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
    preparing: int  # 1 while new partitions lack the settings of the queue: the slots may not change hands yet

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
    version, owners, following, former, preparing = match.groups()
    return Map(int(version), owners, following, former, int(preparing))


def write_map(map: Map) -> str:
    return "1;" + ";".join(str(part) for part in map)


def owned(owners: str, digit: str) -> str:
    """The slots of a partition as it notes them: four in each hex digit, the lowest in its lowest bit."""
    slots = [2 ** (slot % 4) if owner == digit else 0 for slot, owner in enumerate(owners)]
    return "".join(f"{sum(slots[first : first + 4]):x}" for first in range(0, SLOTS, 4))


def first_owners(count: int) -> str:
    """The owners of slots if a queue gets its first partitions: the same number of slots for each, or one more."""
    return "".join(DIGITS[partition] * ((SLOTS + count - 1 - partition) // count) for partition in range(count))


class Partitions:
    """The partitions of a queue. Of a queue that is not known to have any, nothing is read."""

    def __init__(self, redis: Redis, queue: str):
        self._redis, self.queue, self.known = redis, queue, False
        self._map, self._read_at, self._placed = read_map(None), float("-inf"), 0

    def name(self, partition: int) -> str:
        """The partition as keys and the registry name it; of a queue without partitions, for 0, its own name."""
        return name_of(self.queue, partition) if self.known or partition else self.queue

    def over(self, call: Callable[[], T]) -> T:
        """Runs a call. If it fails because the queue has partitions, it has changed nothing, and runs again."""
        was_known = self.known
        try:
            return call()
        except WrongType:
            if was_known or not self.learn():
                raise
        return call()

    def learn(self) -> bool:
        """Reads whether the queue's own keys hold markers, so that it has partitions. If it has no map yet, the one
        who gives it the first may have stopped. Then this goes on."""
        marker, text = self._redis.run(
            ["GET", self._redis.key(self.queue, "tasks")], ["HGET", self._redis.maps, self.queue]
        )
        if marker is None:
            return False
        count = re.fullmatch(r"1;(\d+)", marker)
        if not count:
            raise SluiceError("newer_schema", "the marker is of a later release")
        map = read_map(text)
        self._remember(map if map.version else self._begin(map, int(count[1])))
        return True

    def move_notes(self) -> None:
        """Gives partition 0 the entries that the registry still has of the queue."""
        key, first = self._redis.key("", "queues"), name_of(self.queue, 0)
        moves = [(self.queue, "GT", first), (f"~{self.queue}", "LT", f"~{first}")]
        scores = self._redis.command("ZMSCORE", key, *(old for old, _, _ in moves))
        found = [["ZADD", key, which, score, new] for (_, which, new), score in zip(moves, scores) if score is not None]
        if found:
            self._redis.run(*found, ["ZREM", key, *(old for old, _, _ in moves)])

    def map(self) -> Map:
        """The map, read once a minute."""
        if self.known and time.monotonic() - self._read_at >= READ_EVERY:
            map = self._fetch()
            if map.version:
                return self._remember(map)
            if not self.learn():
                # Redis has lost both. The queue begins anew.
                self.known, self._map = False, map
        return self._map

    def forget(self) -> None:
        """The map has changed."""
        self._read_at = float("-inf")

    def home(self, count: int) -> int:
        """Where ``count`` tasks without a slot go. Producers begin with the same one, so that others are idle."""
        self._placed += count
        owners = numbers(self.map().owners)
        return owners[(int(time.time()) // 600 + self._placed // TASKS_IN_A_ROW) % len(owners)]

    def read_command(self) -> list[str]:
        """Reads the map, among other calls. `read` takes its reply."""
        return ["HGET", self._redis.maps, self.queue]

    def read(self, text: str | None) -> None:
        self._remember(read_map(text))

    def having(self, id: str) -> list[int]:
        """Those that may have a task, the likeliest first."""
        map, named = self.map(), named_partition(id)
        places = [] if named is None else [named]
        places += [map.owner(slot_of(id)), *numbers(map.former), 0]
        if re.search(r"^[0-9A-Za-z]{20}$|^[0-9A-Za-z]{22}$|\{\d+\}$", id):
            # It says nothing of the group or dedup key that says where it is; or the slot of its tag has another
            # owner since.
            places += numbers(map.owners)
        return list(dict.fromkeys(places))

    def moved(self, stale: Map, tries: int) -> Map:
        """The map after a partition has answered `moved` for the nth time, from 0."""
        if tries >= MOST_MOVES:
            raise SluiceError("no_answer", "the partitions of the queue change; try again")
        if tries:
            time.sleep(PAUSE)
        map = self._go_on(self._fetch())
        if map == stale and not map.next:
            if self._note(map, map.owners, map.owners)[1]:
                map = self._go_on(self._overtaken(map))
        return self._remember(map)

    def _remember(self, map: Map) -> Map:
        self.known, self._map, self._read_at = True, map, time.monotonic()
        return map

    def _fetch(self) -> Map:
        return read_map(self._redis.command(*self.read_command()))

    def _begin(self, map: Map, count: int) -> Map:
        """Gives the queue its first map, or one above a map that was lost."""
        # Before the keys, so that no sweep misses them.
        self._register(0)
        renamed = self._redis.run(("partitions/rename-keys", name_of(self.queue, 0), [count]))[0]
        if renamed == ["twice"]:
            raise SluiceError(
                "redis_error",
                "tasks are under the queue's own keys and under those of its partition 0 (see docs/operating.md)",
            )
        self.move_notes()
        owners = first_owners(renamed[0])
        # Redis may have lost an earlier map, and partition 0, but not what other nodes have.
        if any(self._noted().values()):
            return self._go_on(self._overtaken(map, owners))
        return self._go_on(self._put(map, map._replace(version=1, next=owners, preparing=1)))

    def _register(self, *partitions: int) -> None:
        """Notes in the registry that partitions are in use."""
        self._redis.run(("sweep/register", "", ["", *(name_of(self.queue, partition) for partition in partitions)]))

    def _go_on(self, map: Map) -> Map:
        """Goes on with a change of owners that another caller has begun, as far as this client can."""
        for _ in range(MOST_STEPS if map.next else 0):
            after = self._prepare(map) if map.preparing else self._complete(map)
            if after == map or not after.next:
                return after
            map = after
        return map

    def _prepare(self, map: Map) -> Map:
        """The map with which the slots may change hands. The settings of new partitions are left to the library."""
        if set(map.next) - set(map.owners + map.former):
            key = self._redis.key(name_of(self.queue, 0), "tasks")
            if any(self._redis.command("HMGET", key, "~set", "~groups")):
                return map
        return self._put(map, map._replace(preparing=0))

    def _complete(self, map: Map) -> Map:
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

    def _noted(self) -> dict[str, int]:
        """The partitions that have a note of their slots, each with the version of its map."""
        keys = [self._redis.key(name_of(self.queue, partition), "tasks") for partition in range(len(DIGITS))]
        notes = zip(DIGITS, self._redis.run(*(["HGET", key, "~slots"] for key in keys)))
        return {digit: int(note.split(";")[1]) for digit, note in notes if note}

    def _overtaken(self, map: Map, owners: str = "") -> Map:
        """The later map of which a partition knows. If it was lost, the map gets a version above it, and the next
        owners that it has, or those of the call."""
        found = self._fetch()
        if found != map:
            return found
        noted = self._noted()
        # The registry may be lost, too. Consumers and sweeps visit no partition that it does not have.
        self._register(*numbers("".join(noted)))
        later = map._replace(
            version=max(map.version, *noted.values()) + 1,
            next=map.next or owners or map.owners,
            former="".join(sorted({*map.former, *noted})),
            preparing=1,
        )
        # The one who completes a change seals slots only in the owners that the map names.
        if self._note(later, "-" * SLOTS, "".join(noted.keys() - set(map.owners)))[1]:
            return self._fetch()
        return self._put(map, later)

    def _put(self, was: Map, map: Map) -> Map:
        text = write_map(was) if was.version else ""
        args = [self.queue, text, write_map(map), map.all()[-1] + 1]
        return read_map(self._redis.run(("partitions/put-map", "", args))[0][0])
