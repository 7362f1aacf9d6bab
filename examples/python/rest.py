"""A Redis by the Upstash REST protocol, and Sluice's scripts on it."""

from __future__ import annotations

import functools
import hashlib
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Union

from records import SluiceError

LUA = Path(__file__).resolve().parents[2] / "lua"
LAYERS = ("order", "flows")
"""The folders whose files change what the others declare. Only some scripts have them: the linked edition."""
LINKED = (*LAYERS, "operate", "repair", "debounce")
"""The folders whose scripts have the layers."""
KEYS = re.compile(r"^local (\w+) = KEYS\[\d+\]", re.MULTILINE)
TRIES = 4

RESEND: Any = object()
"""Among a call's arguments: ``1`` in every copy after the first."""


class Unanswered(SluiceError):
    """The request may or may not have run. It can be sent again: every script allows that."""


class WrongType(SluiceError):
    """A key holds a value of another type, such as a marker of a queue with partitions. The script has written
    nothing.
    """


class Script:
    """A script behind what it uses of the shared files. Its head names its keys."""

    def __init__(self, name: str, folder: Path):
        script = _lua(folder, name)
        # Lua allows a function 200 locals, so the script is one of its own.
        parts = _shared(folder, name.split("/")[0] in LINKED)
        self.text = _needed(_words(script), parts) + f"return (function()\n{script}\nend)()\n"
        self.sha = hashlib.sha1(self.text.encode()).hexdigest()
        self.keys: list[str] = [name.replace("_", "-") for name in KEYS.findall(script)]


def _needed(words: set[str], parts: dict[str, str]) -> str:
    """The shared locals that these words name, and those that they use, each behind those."""
    needed: dict[str, None] = {}

    def add(words: set[str], around: frozenset[str] = frozenset()) -> None:
        for part in sorted({parts[word] for word in words if word in parts} - around - needed.keys()):
            add(_words(part), around | {part})
            needed[part] = None

    add(words)
    return "".join(needed)


@functools.lru_cache
def _shared(folder: Path, linked: bool) -> dict[str, str]:
    """The shared locals by name: those of all files that are no scripts, which name keys."""
    paths = sorted(path for path in folder.glob("*/*.lua") if linked or path.parent.name not in LAYERS)
    files = [path.read_text("utf-8") for path in paths]
    shared = "\n".join(text for text in files if not KEYS.search(text))
    parts: dict[str, str] = {}
    for part in re.split(r"^(?=local\b)", shared, flags=re.MULTILINE)[1:]:
        names = re.sub(r"^local( function)?|[=(].*", "", part.split("\n")[0])
        parts.update((name, part) for name in _words(names))
    return parts


def _words(text: str) -> set[str]:
    """The words of a Lua text that may be names of locals: not those in comments and strings, nor fields."""
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"--.*|'[^'\n]*'|(?<!\.)\.[A-Za-z_]\w*", " ", text)))


def _lua(folder: Path, name: str) -> str:
    return (folder / f"{name}.lua").read_text("utf-8")


Call = Union["tuple[str, str, list]", "list[str]"]
"""A script's path, the queue or partition ('' for the registry), the arguments. Or the words of a command of Redis,
which does no harm if it runs twice.
"""


class Redis:
    """A Redis by the Upstash REST protocol, and Sluice's scripts on it."""

    def __init__(self, url: str, token: str, prefix: str = "sluice", lua: Path = LUA):
        self._url, self._token, self._prefix, self._lua = url.rstrip("/"), token, prefix, lua
        self._scripts: dict[str, Script] = {}

    def run(self, *calls: Call) -> list:
        """Runs scripts and commands in one request; gives their replies, of scripts without the status ``ok``."""
        if not calls:
            return []
        for copy in range(TRIES):
            try:
                return self._attempt(calls, "1" if copy else "")
            except Unanswered:
                if copy == TRIES - 1:
                    raise
                time.sleep(random.uniform(0, 0.1 * 2**copy))
        raise AssertionError("unreachable")

    def command(self, *words: str) -> Any:
        """Runs one command of Redis."""
        return self.run(list(words))[0]

    @property
    def maps(self) -> str:
        """The key of the maps of partitions."""
        return f"{{{self._prefix}:queues}}:maps"

    def key(self, queue: str, part: str) -> str:
        """A key of a queue or partition, or ('') of the registry. For partition 0 also the plain ones of its queue."""
        if not queue:
            return f"{self._prefix}:{part}"
        name, _, partition = queue.partition("/")
        if part.startswith("plain-"):
            return self.key(name, part[len("plain-") :])
        # Partition 0 has the hash tag of its queue, so that the queue's keys can be renamed to its.
        tag = f"{{{name}}}/0" if partition == "0" else f"{{{queue}}}"
        return f"{self._prefix}:{tag}:{part}"

    def _attempt(self, calls: tuple[Call, ...], resend: str) -> list:
        answers = self._post([self._command("EVALSHA", call, resend) for call in calls])
        unknown = [i for i, answer in enumerate(answers) if answer.get("error", "").startswith("NOSCRIPT")]
        if unknown:
            again = self._post([self._command("EVAL", calls[i], resend) for i in unknown])
            for i, answer in zip(unknown, again):
                answers[i] = answer
        results = [_result(answer) for answer in answers]
        return [result if isinstance(call, list) else _reply(result) for call, result in zip(calls, results)]

    def _command(self, verb: str, call: Call, resend: str) -> list[str]:
        if isinstance(call, list):
            return call
        name, queue, args = call
        if name not in self._scripts:
            self._scripts[name] = Script(name, self._lua)
        script = self._scripts[name]
        keys = [self.maps if part == "maps" else self.key(queue, part) for part in script.keys]
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


def _result(answer: dict) -> Any:
    if "result" in answer:
        return answer["result"]
    # Some servers repeat the command behind their message, and payloads with it.
    message = answer["error"].partition(", with args")[0][:200]
    kind = WrongType if "WRONGTYPE" in message else SluiceError
    raise kind("queue_full" if "OOM" in message else "redis_error", message)


def _reply(result: list) -> list:
    status, *reply = result
    if status == "ok":
        return reply
    if status in ("full", "newer_schema"):
        raise SluiceError("queue_full" if status == "full" else status)
    return [status, *reply]
