"""Makes the calls of the model with the client, by the model's clock: each a line of JSON, as is each answer."""

import json
import os
import sys
import time
import traceback

from partitions import name_of, write_map
from records import SluiceError, encode, encode_error, encode_progress
from rest import Redis
from sluice import Queue, Settlement, sweep

URL, TOKEN = os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"]
NAME_OF_QUEUE = sys.argv[1]


class Clock:
    now = 0  # ms
    calls = 0


class TimedRedis(Redis):
    """Gives the scripts the model's time."""

    def _command(self, verb, call, resend=""):
        if not isinstance(call, list) and call[2][:1] == [""]:
            name, queue, args = call
            call = name, queue, [Clock.now, *args[1:]]
        return super()._command(verb, call, resend)


def task_of(asked):
    dedup = asked.pop("dedup", None)
    renamed = {"max_attempts" if name == "maxAttempts" else name: value for name, value in asked.items()}
    ttls = {"result_ttl": 1_200_000, "dead_ttl": 1_800_000}
    return {**renamed, **ttls, "dedup": dedup and (dedup["key"], dedup["window"])}


def settlement_of(receipt, outcome, ms=None, count=True, **text):
    encoded = ""
    if "text" in text:
        encoders = {"complete": lambda result: encode("result", result), "extend": encode_progress}
        encoded = encoders.get(outcome, encode_error)(text["text"])
    return Settlement(receipt, outcome, ms, encoded, count)


CALLS = {
    "enqueue": lambda queue, tasks: queue.enqueue_many(map(task_of, tasks)),
    "dequeue": lambda queue, pull: [
        {
            "id": task.id,
            "receipt": task.receipt,
            "payload": task.payload,
            "attempt": task.attempt,
            "enqueuedAt": task.enqueued_at,
            "deadlineAt": task.deadline_at,
            "group": task.group,
        }
        for task in queue.dequeue(**pull)
    ],
    "settle": lambda queue, items: queue.settle([settlement_of(**item) for item in items]),
    "cancel": lambda queue, id: queue.cancel(id),
    "get": lambda queue, id: queue.get(id),
    "sweep": lambda queue: sweep(queue._redis),
}


def known(queue, scores):
    """What a queue knows: its map, and the scores if it has read them since."""
    partitions, read = queue._partitions, queue._turns._scores
    return {
        "map": write_map(partitions._map) if partitions.known else None,
        "scores": None if read is scores else {name_of(queue.name, p): score for p, score in read.items()},
    }


queues = {}
time.sleep = lambda seconds: None
time.time = lambda: Clock.now / 1000
# What was seen in an earlier call is older, also if no time has passed.
time.monotonic = lambda: Clock.now / 1000 + Clock.calls * 1e-5

for line in sys.stdin:
    asked = json.loads(line)
    Clock.now, Clock.calls = asked["now"], Clock.calls + 1
    try:
        # Another number is another process.
        if asked["number"] not in queues:
            queues = {asked["number"]: Queue(TimedRedis(URL, TOKEN), NAME_OF_QUEUE)}
        queue = queues[asked["number"]]
        scores, operation = queue._turns._scores, asked["operation"]
        try:
            answer = {"answer": CALLS[operation.pop("does")](queue, **operation)}
        except SluiceError as error:
            answer = {"refused": error.code}
        answer = {"value": {**answer, "known": known(queue, scores)}}
    except BaseException:
        answer = {"failure": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
