"""What Sluice keeps in Redis, written and read as lua/README.md specifies it."""

from __future__ import annotations

import base64
import json
import re
import secrets
import time
from typing import Any

QUEUE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")
NAME = re.compile(r"[A-Za-z0-9][!-~]{0,127}")  # ids, groups, dedup keys
MAX_VALUE_BYTES = 1_048_576
MAX_SMALL_BYTES = 16_384  # headers, errors
MAX_PROGRESS_BYTES = 1_024
MAX_ERROR_TEXT = 200  # characters
TEN_YEARS = 315_360_000_000
LATEST = 8_640_000_000_000_000

NOTHING: Any = object()
"""A result, error or progress that is not given. ``None`` is a value."""

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in their order in ASCII
RECEIPT = re.compile(r"(?:1|2\.([1-9]\d?))\.[\d,]+\.(\d+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9][!-~]*)")

STATES = dict(p="pending", b="blocked", d="delayed", w="working", c="completed", r="rejected", f="cancel requested")


class SluiceError(Exception):
    """A failure. Programs read ``code``."""

    def __init__(self, code: str, message: str = ""):
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code


def checked(what: str, name: Any, pattern: re.Pattern) -> str:
    """The name, or `bad_argument`."""
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise SluiceError("bad_argument", f"{what} must be a text that matches ^{pattern.pattern}$")
    return name


def whole(what: str, number: Any, least: int = 0, most: int = TEN_YEARS) -> int:
    """The number, or `bad_argument`."""
    if type(number) is not int or not least <= number <= most:
        raise SluiceError("bad_argument", f"{what} must be a whole number from {least} to {most}")
    return number


def encode(what: str, value: Any, most: int = MAX_VALUE_BYTES) -> str:
    """A payload, result or error: ``b`` and base64 for bytes, ``j`` and JSON for all else."""
    if isinstance(value, (bytes, bytearray)):
        return "b" + base64.b64encode(_bounded(what, value, most)).decode()
    text = _json(what, value, ascii=False)
    _bounded(what, text.encode(), most)
    return "j" + text


def decode(text: str) -> Any:
    """The value of such a text; None for the empty one."""
    if text == "":
        return None
    return base64.b64decode(text[1:]) if text[0] == "b" else json.loads(text[1:])


def is_reference(payload: Any) -> bool:
    """Whether a payload is in an object store, and this is only the reference to it."""
    return isinstance(payload, bytes) and payload.startswith(b"\0SLUICE\x02")


def encode_error(error: Any) -> str:
    """An exception is kept as its name and message. In front is the short form for its attempt, if that is
    shorter.
    """
    if isinstance(error, BaseException):
        error = {"name": type(error).__name__, "message": str(error)[:4_000]}
    text = encode("error", error, MAX_SMALL_BYTES)
    short = encode("error", error_text(error))
    return f"s{short}\n{text}" if len(short.encode()) < len(text.encode()) else text


def error_text(error: Any) -> str:
    """An error as a person reads it."""
    name, message = (error.get("name"), error.get("message")) if isinstance(error, dict) else (None, None)
    if isinstance(name, str) and isinstance(message, str):
        error = f"{name}: {message}" if message else name
    elif isinstance(error, (bytes, bytearray)):
        error = f"{len(error)} bytes"
    text = error if isinstance(error, str) else _json("error", error, ascii=False)
    return text if len(text) <= MAX_ERROR_TEXT else text[: MAX_ERROR_TEXT - 1] + "…"


def encode_progress(progress: Any) -> str:
    """Progress as the first line of a record has it: in ASCII, escaped like names."""
    _bounded("progress", _json("progress", progress, ascii=False).encode(), MAX_PROGRESS_BYTES)
    return "j" + escaped(_json("progress", progress, ascii=True))


def escaped(text: str) -> str:
    """A text within a record's first line, where ``;`` ends a field."""
    return text.replace("%", "%25").replace(";", "%3B")


def unescaped(text: str) -> str:
    """The reverse of :func:`escaped`."""
    return text.replace("%3B", ";").replace("%25", "%")


def new_task(
    payload: Any,
    *,
    id: str | None = None,
    delay: int = 0,
    at: int | None = None,
    lease: int | None = None,
    max_attempts: int | None = None,
    result_ttl: int | None = None,
    dead_ttl: int | None = None,
    group: str | None = None,
    priority: int = 0,
    headers: dict[str, str] | None = None,
    dedup: tuple[str, int] | None = None,
    again: bool = False,
    unique: int = 0,
) -> list[str]:
    """The arguments of ``enqueue`` for one task: id, when, unique, record.

    The task is due after ``delay`` or at ``at``. A ``max_attempts`` of 0 is no limit. ``dedup`` is a key and
    its window: during the window the key belongs to this task. ``again`` lets the caller's ``id`` begin a
    new life if its last task has ended. ``unique`` is how long from now on another enqueue of the ``id`` is
    refused.
    """
    if again and (id is None or dedup is not None):
        raise SluiceError("bad_argument", "again needs an id, and no dedup")
    if unique and (id is None or again):
        raise SluiceError("bad_argument", "unique needs an id, and no again")
    texts = [text for header in (headers or {}).items() for text in header]
    if "" in (headers or {}) or not all(isinstance(text, str) for text in texts):
        raise SluiceError("bad_argument", "headers must be texts by names that are not empty")
    head = _json("headers", headers, ascii=True) if headers else ""
    _bounded("headers", head, MAX_SMALL_BYTES)
    letters = {
        # Distinguishes a copy of this request from another producer's task with that id.
        "t": None if id is None else secrets.token_urlsafe(12),
        "l": None if lease is None else whole("lease", lease, 1),
        "m": None if max_attempts is None else whole("max_attempts", max_attempts, 0, 1_000_000),
        "r": None if result_ttl is None else whole("result_ttl", result_ttl),
        "d": None if dead_ttl is None else whole("dead_ttl", dead_ttl),
        "U": whole("unique", unique) or None,
        "h": len(head) or None,
        "G": None if group is None else escaped(checked("group", group, NAME)),
        "P": whole("priority", priority, 0, 9) or None,
    }
    options = "".join(f";{letter}={value}" for letter, value in letters.items() if value is not None)
    when = f"+{delay}" if whole("delay", delay) else ""
    if at is not None:
        if delay:
            raise SluiceError("bad_argument", "at and delay exclude each other")
        when = str(whole("at", at, 0, LATEST))
    once = "again" if again else ""
    if dedup is not None:
        once = f"{whole('the dedup window', dedup[1], 1)} {checked('dedup key', dedup[0], NAME)}"
    name = _new_id() if id is None else checked("id", id, NAME)
    return [name, when, once, f"{options}\n{head}{encode('payload', payload)}"]


def write_receipt(partition: int, delivery: int | str, number: int, token: str, id: str) -> str:
    """The proof of a lease."""
    form = f"2.{partition}" if partition else "1"
    return f"{form}.{delivery}.{number}.{token}.{id}"


def read_receipt(receipt: Any) -> tuple[int, str, str, str]:
    """The partition, lease number, lease token and id of a receipt, or `bad_argument`."""
    match = RECEIPT.fullmatch(receipt) if isinstance(receipt, str) else None
    if not match:
        raise SluiceError("bad_argument", "this is no receipt")
    partition, number, token, id = match.groups()
    return int(partition or 0), number, token, id


def read_fixed(record: str) -> dict[str, Any]:
    """The fields of a fixed record; ``rest`` is the encoded payload."""
    line, rest = _first_line(record)
    enqueued_at, *letters = line.split(";")
    says = _letters(letters)
    headers = rest[: int(says.get("h", 0))]
    return {**says, "e": enqueued_at, "headers": json.loads(headers or "{}"), "rest": rest[len(headers) :]}


def read_changing(record: str) -> dict[str, Any]:
    """The fields of a changing record; ``rest`` is the result or the last error."""
    line, rest = _first_line(record)
    fields = line.split(";")
    return {**dict(zip("veacsnkql", fields)), **_letters(fields[9:]), "rest": rest}


def read_info(state: str, at: int, fixed: str, changing: str) -> dict[str, Any]:
    """The fields of a task that ``get`` returned. A field that does not apply is absent."""
    says = {"v": "1", "a": "0", "c": "0", "n": "0", "b": "0", "rest": ""}
    if fixed:
        says.update(read_fixed(fixed), rest="")
    if changing:
        # An empty field counts as absent, such as the time of an enqueue that the fixed record has.
        says.update((letter, text) for letter, text in read_changing(changing).items() if text)
    info: dict[str, Any] = {"state": state}
    for name, letter in (("reason", "y"), ("group", "G"), ("worker", "W")):
        if letter in says:
            info[name] = says[letter]
    numbers = dict(version="v", attempt="a", charged="c", lease="n", requeues="b", priority="P")
    instants = dict(enqueued_at="e", dequeued_at="q", requeued_at="u", ended_at="z")
    for name, letter in {**numbers, **instants}.items():
        if says.get(letter):
            info[name] = int(says[letter])
    if at:
        info["due_at" if state == "delayed" else "deadline_at"] = at
    if "f" in says:
        info["cancel_requested"] = True
    if says.get("headers"):
        info["headers"] = says["headers"]
    if "O" in says:
        info["progress"] = decode(says["O"])
    if says["rest"]:
        info["result" if state == "completed" else "error"] = decode(says["rest"])
    # Each is the number of the attempt, when it ended, and its error; None if its lease expired or was taken.
    info["errors"] = []
    for attempt, ms, text in re.findall(r"(\d+) (\d+)(?: ([^\t]*))?", says.get("E", "")):
        error = error_text(decode(text)) if text not in ("", "taken_back") else None
        info["errors"].append((int(attempt), info["enqueued_at"] + int(ms), error))
    turns = re.findall(r"([a-z])(\d+)", says.get("h", ""))
    info["history"] = [(STATES.get(turn, turn), info["enqueued_at"] + int(ms)) for turn, ms in turns]
    return info


def _first_line(record: str) -> tuple[str, str]:
    if not record.startswith("1;"):
        raise SluiceError("newer_schema", "a record is of a later release")
    line, _, rest = record[2:].partition("\n")
    return line, rest


def _letters(fields: list[str]) -> dict[str, str]:
    return {field[:1]: unescaped(field[2:]) for field in fields}


def _json(what: str, value: Any, ascii: bool) -> str:
    try:
        text = json.dumps(value, ensure_ascii=ascii, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        message = f"{what} must be bytes, or something that JSON can express"
        raise SluiceError("bad_argument", message) from None
    # Half a surrogate pair is no UTF-8; escaped, it is JSON all the same.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", text)


def _bounded(what: str, text: Any, most: int) -> Any:
    if len(text) > most:
        raise SluiceError("too_large", f"{what} has {len(text)} bytes; at most {most} are allowed")
    return text


def _new_id() -> str:
    # Tasks that are due at the same time go in the order of their ids. 20 characters, as the library's ids have: of
    # such an id clients look in all partitions.
    ms, ns = divmod(time.time_ns(), 1_000_000)
    return _digits(ms, 8) + _digits(ns, 4) + "".join(secrets.choice(DIGITS) for _ in range(8))


def _digits(number: int, length: int) -> str:
    return "".join(DIGITS[number // 62**place % 62] for place in reversed(range(length)))
