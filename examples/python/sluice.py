"""A client of Sluice in nothing but Python's standard library.

Written from lua/README.md and the block at the head of each script in lua/, as a client in any
language can be. Durations are milliseconds; instants, which end in ``_at``, epoch milliseconds of
Redis's clock. What goes wrong is a :class:`SluiceError`; what a queue may refuse is an answer.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import re
import secrets
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, NamedTuple

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
    new_task,
    read_fixed,
    read_info,
    whole,
)

LUA = Path(__file__).resolve().parents[2] / "lua"
LIB = (
    "prelude writes records limits groups fair-order admission events commit transitions workers wake due "
    "pending selection leases resends operator-calls settle-in-full dequeue-in-full plain-lane pages "
    "slots repair-entries repair repair-fields control-fields group-states"
).split()
TRIES = 4
REGISTER_EVERY = 60.0  # seconds
REFUSED_FOR = 30_000  # ms

RESEND: Any = object()
"""Among a call's arguments: ``1`` in every copy after the first."""


class Unanswered(SluiceError):
    """The request may or may not have run. It can be sent again: every script allows that."""


class Script:
    """A script behind what it uses of the shared files. Its head names its keys."""

    def __init__(self, name: str, folder: Path):
        script = _lua(folder, name)
        self.text = _needed(_words(script), folder) + script
        self.sha = hashlib.sha1(self.text.encode()).hexdigest()
        self.keys: list[str] = [
            name.replace("_", "-") for name in re.findall(r"^local (\w+) = KEYS\[\d+\]", script, re.MULTILINE)
        ]


def _needed(words: set[str], folder: Path) -> str:
    """The locals of the shared files that these words name, and those that they use, in order."""
    shared = "\n".join(_lua(folder, f"lib/{name}") for name in LIB)
    needed = ""
    for part in reversed(re.split(r"^(?=local\b)", shared, flags=re.MULTILINE)[1:]):
        names = re.sub(r"^local( function)?|[=(].*", "", part.split("\n")[0])
        if words & _words(names):
            words = words | _words(part)
            needed = part + needed
    return needed


def _words(text: str) -> set[str]:
    """The words of a Lua text that may be names of locals: not those in comments and strings, nor fields."""
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"--.*|'[^'\n]*'|(?<!\.)\.[A-Za-z_]\w*", " ", text)))


def _lua(folder: Path, name: str) -> str:
    return (folder / f"{name}.lua").read_text("utf-8")


Call = tuple[str, str, list]
"""A script's path, the queue ('' for the registry), the arguments."""


class Redis:
    """A Redis by the Upstash REST protocol, and Sluice's scripts on it."""

    def __init__(self, url: str, token: str, prefix: str = "sluice", lua: Path = LUA):
        self._url, self._token, self._prefix, self._lua = url.rstrip("/"), token, prefix, lua
        self._scripts: dict[str, Script] = {}

    def run(self, *calls: Call) -> list[list]:
        """Runs scripts in one request; gives their replies, each without its status ``ok``."""
        for copy in range(TRIES):
            try:
                return self._attempt(calls, "1" if copy else "")
            except Unanswered:
                if copy == TRIES - 1:
                    raise
                time.sleep(random.uniform(0, 0.1 * 2**copy))
        raise AssertionError("unreachable")

    def _attempt(self, calls: tuple[Call, ...], resend: str) -> list[list]:
        answers = self._post([self._command("EVALSHA", call, resend) for call in calls])
        unknown = [i for i, answer in enumerate(answers) if answer.get("error", "").startswith("NOSCRIPT")]
        if unknown:
            again = self._post([self._command("EVAL", calls[i], resend) for i in unknown])
            for i, answer in zip(unknown, again):
                answers[i] = answer
        return [_reply(answer) for answer in answers]

    def _command(self, verb: str, call: Call, resend: str) -> list[str]:
        name, queue, args = call
        if name not in self._scripts:
            self._scripts[name] = Script(name, self._lua)
        script = self._scripts[name]
        scope = f"{self._prefix}:{{{queue}}}" if queue else self._prefix
        keys = [f"{scope}:{part}" for part in script.keys]
        given = [resend if arg is RESEND else str(arg) for arg in args]
        return [verb, script.text if verb == "EVAL" else script.sha, str(len(keys)), *keys, *given]

    def _post(self, commands: list[list[str]]) -> list[dict]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        body = json.dumps(commands, ensure_ascii=False).encode()
        request = urllib.request.Request(f"{self._url}/pipeline", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            kind = Unanswered if error.code == 429 or error.code >= 500 else SluiceError
            raise kind("http_error", f"Redis answered with status {error.code}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unanswered("no_answer", f"Redis gave no answer: {type(error).__name__}") from error


def _reply(answer: dict) -> list:
    error = answer.get("error")
    if error is not None:
        # Some servers repeat the command behind their message, and payloads with it.
        message = error.partition(", with args")[0][:200]
        raise SluiceError("queue_full" if "OOM" in message else "redis_error", message)
    status, *reply = answer["result"]
    if status == "ok":
        return reply
    if status in ("full", "newer_schema"):
        raise SluiceError("queue_full" if status == "full" else status)
    return [status]


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
    """A queue. Each method is one request; a dequeue that must refuse tasks is two."""

    def __init__(self, redis: Redis, name: str):
        self._redis, self.name = redis, checked("queue", name, QUEUE)
        self._registered, self._with_settings = float("-inf"), ""

    def enqueue(self, payload: Any, **options: Any) -> tuple[str, bool]:
        """Adds a task. Gives its id, and whether this call created it. Options: see `new_task`."""
        return self.enqueue_many([{"payload": payload, **options}])[0]

    def enqueue_many(self, tasks: Iterable[dict[str, Any]]) -> list[tuple[str, bool]]:
        """Adds up to 1,000 tasks, all or none; each is a dict of ``payload`` and options."""
        args = [new_task(**task) for task in tasks]
        whole("the number of tasks", len(args), 1, 1_000)
        now = time.monotonic()
        register = now - self._registered >= REGISTER_EVERY
        with_settings = "1" if register else self._with_settings
        calls = [("tasks/enqueue", self.name, ["", with_settings, "", "", "", *(arg for task in args for arg in task)])]
        if register:
            calls.insert(0, ("sweep/register", "", ["", self.name]))
        looked, _, *answers = self._redis.run(*calls)[-1]
        self._registered = now if register else self._registered
        if looked >= 0:
            self._with_settings = "1" if looked else ""
        # A text is the id of the task to which the dedup key belongs.
        return [
            (answer, False) if isinstance(answer, str) else (task[0], answer == 1)
            for task, answer in zip(args, answers)
        ]

    def dequeue(
        self, max: int = 1, lease: int = 300_000, max_bytes: int = 8_000_000, worker: str = ""
    ) -> list[Task]:
        """Leases up to ``max`` tasks; none where the queue is empty or paused.

        A task whose payload is in an object store goes back for 30 seconds, with an error, and no attempt counts:
        this client reads no store. If the call leased only such tasks, it throws ``offload_failed``.
        """
        token = secrets.token_urlsafe(12)
        args = ["", whole("max", max, 1, 1_000), whole("lease", lease, 1), token, RESEND, max_bytes]
        args += [f"{escaped(checked('worker', worker, NAME))} ", ';"";'] if worker else ["", ""]
        reply = self._redis.run(("tasks/dequeue", self.name, args))[0]
        for _ in range(49):
            if reply[0] != "more":
                break
            # It met only what is not to be delivered, such as cancelled tasks. The same call goes on behind them.
            args[4] = "1"
            reply = self._redis.run(("tasks/dequeue", self.name, args))[0]
        if reply[0] == "more":
            return []
        # The first is when there will be more, or the word `paused`. The last may be a list of new dead letters.
        if isinstance(reply[-1], list):
            reply.pop()
        return self._readable([self._task(token, *reply[i : i + 5]) for i in range(1, len(reply), 5)])

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

    def _task(self, token: str, id: str, attempt: int, number: int, deadline_at: int, record: str) -> Task:
        says = read_fixed(record)
        receipt = f"1.{attempt}.{number}.{token}.{id}"
        payload, group = decode(says["rest"]), says.get("G", "")
        return Task(self, id, receipt, attempt, deadline_at, int(says["e"]), payload, says["headers"], group)

    def settle(self, settlements: Iterable[Settlement]) -> list[Settled]:
        """Ends or extends up to 1,000 leases; each gets an answer of its own."""
        args: list = []
        for receipt, outcome, ms, text, count in settlements:
            parts = receipt.split(".", 4)
            if len(parts) < 5 or parts[0] != "1":
                raise SluiceError("bad_argument", "this is no receipt")
            number, token, id = parts[2:]
            terms = [outcome] if ms is None else [outcome, str(whole("a duration", ms))]
            args += [id, f"{number},{token}", " ".join(terms if count else [*terms, "uncounted"]), text]
        # By the token a late copy of the call is known: it leaves newer progress alone.
        answers = self._redis.run(("tasks/settle", self.name, ["", secrets.token_urlsafe(12), *args]))[0]
        return [
            Settled(state not in ("lost", "newer"), state, reason, at, flag == 1)
            for state, reason, at, flag in ((a, "", 0, 0) if isinstance(a, str) else a for a in answers)
        ]

    def cancel(self, id: str, lease: int | None = None) -> str:
        """Returns ``rejected``, or ``working`` if its holder will be notified. Otherwise why not: ``not_found``,
        ``already_ended``, or ``lease_lost`` if the task has another lease number."""
        args = ["", checked("id", id, NAME), "" if lease is None else lease]
        return self._redis.run(("tasks/cancel", self.name, args))[0][0]

    def get(self, id: str) -> dict[str, Any] | None:
        """The state of a task, without its payload; None for an unknown id."""
        reply = self._redis.run(("tasks/get", self.name, [checked("id", id, NAME), ""]))[0]
        return None if reply == ["not_found"] else {"id": id, **read_info(*reply[:3], reply[4])}


def sweep(redis: Redis, limit: int = 1_000) -> dict[str, tuple[int, ...]]:
    """What cron calls every minute: by queue, how many were promoted, reclaimed, rejected, expired."""
    swept: dict[str, tuple[int, ...]] = {}
    cursor = ""
    while cursor != "0":
        _, cursor, *page = redis.run(("sweep/list-queues", "", ["", cursor or "0", 100]))[0]
        # A member that begins with `~` reminds of a queue's schedules, which this client does not follow.
        for name in (name for name in page[::2] if not name.startswith("~")):
            more = name not in swept
            swept.setdefault(name, (0, 0, 0, 0))
            while more:
                # Behind these are what this client ignores: records of later releases, wakes, new dead letters.
                *counts, more = redis.run(("sweep/sweep", name, ["", limit, "", ""]))[0][:5]
                swept[name] = tuple(map(sum, zip(swept[name], counts)))
    return swept
