"""A scene with every kind of ending: ``python3 demo.py [queue]``. README.md beside it says how to run it."""

import os
import secrets
import sys
import time
from datetime import datetime, timezone

from sluice import Queue, Redis, sweep


def main() -> None:
    try:
        redis = Redis(os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"])
    except KeyError as name:
        sys.exit(f"{name} is not set. `npx sluice gateway` starts a gateway and prints it.")
    queue = Queue(redis, sys.argv[1] if len(sys.argv) > 1 else f"demo-{secrets.token_hex(3)}")
    print(f"queue {queue.name}")

    title("A producer")
    print("one task:", queue.enqueue({"to": "a@example.com"}, id="welcome-17"))
    print("that id again:", queue.enqueue({"to": "a@example.com"}, id="welcome-17"))
    many = [
        {"payload": "Grüße 🚀", "id": "note", "headers": {"trace": "t-1"}, "group": "tenant-a"},
        {"payload": b"\x00\xff", "id": "bytes", "dedup": ("picture-9", 60_000)},
        {"payload": 42, "id": "unwanted"},
    ]
    print("many:", queue.enqueue_many(many))
    print("another with that dedup key:", queue.enqueue(b"\x00\xff", dedup=("picture-9", 60_000)))
    print("cancel unwanted:", queue.cancel("unwanted"))

    title("A consumer")
    for task in queue.dequeue(max=10, worker="demo.py"):
        print(f"{task.id}: {task.payload!r}, attempt {task.attempt}, headers {task.headers}")
        before = task.deadline_at
        extended = task.extend(lease=600_000, progress={"percent": 50})
        print(f"  extended: {extended.ok}, to a later deadline: {task.deadline_at > before}")
        print("  completed:", task.complete({"by": "Python"}).state)
    show(queue, "welcome-17")

    title("A task for later")
    queue.enqueue(None, id="late", delay=50)
    show(queue, "late")
    time.sleep(0.1)
    sweep(redis)
    show(queue, "late")
    for task in queue.dequeue():
        print(f"{task.id}: handed back: {task.hand_back().state}")
        show(queue, task.id)
    for task in queue.dequeue():
        print(f"{task.id}: {task.complete().state} in attempt {task.attempt}")

    title("A task that fails")
    queue.enqueue({"divide": 0}, id="failing", max_attempts=2, dead_ttl=3_600_000)
    for _ in range(2):
        for task in queue.dequeue():
            try:
                print(1 / task.payload["divide"])
            except ZeroDivisionError as error:
                settled = task.requeue(error)
                print(f"attempt {task.attempt}: {settled.state} {settled.reason}".rstrip())
    show(queue, "failing")

    title("A holder that is too late")
    queue.enqueue("slow", id="slow")
    (first,) = queue.dequeue(lease=50)
    time.sleep(0.1)
    (second,) = queue.dequeue()
    print(f"the first holder's receipt: ok {first.complete().ok}, {first.complete().state}")
    print(f"the second's: ok {second.complete().ok}, attempt {second.attempt}")


def title(text: str) -> None:
    print(f"\n{text}")


def show(queue: Queue, id: str) -> None:
    """Prints the state of a task on one line."""
    info = queue.get(id) or {}
    names = ("reason", "attempt", "charged", "result", "error")
    parts = [f"{name} {info[name]!r}" for name in names if name in info]
    if "ended_at" in info:
        parts.append(f"ended {datetime.fromtimestamp(info['ended_at'] / 1000, timezone.utc):%Y-%m-%d}")
    print(f"{id} is {info.get('state')}: {', '.join(parts)}")


if __name__ == "__main__":
    main()
