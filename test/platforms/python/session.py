"""Runs blocks of code with the client, a `redis` and a `queue` of their own: a JSON text of standard input each. Prints
the value of an expression, or what a block has reported, or why it failed, as a line of JSON.
"""

import io
import json
import os
import sys
import time
import traceback
import urllib.request

import sluice
from sluice import *

URL, TOKEN = os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"]
NAME_OF_QUEUE = sys.argv[1]
answers, sys.stdout = sys.stdout, io.StringIO()


def new_queue():
    """A queue that knows nothing yet of its partitions, and is not registered."""
    return Queue(Redis(URL, TOKEN), NAME_OF_QUEUE)


def set_fault(fault):
    """Makes the gateway disturb one request, or none, and no longer those of earlier faults."""
    for method, body in (("DELETE", None), ("POST", json.dumps(fault).encode()))[: 2 if fault else 1]:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{URL}/-/faults", body, headers, method=method)).read()


def disturbed(redis, begin, day, faults):
    """What a day answers, and each answer that differs if a fault meets any one of its requests."""
    post, sent = redis._post, []
    redis._post = lambda commands: sent.append(1) or post(commands)

    def run(fault=None):
        # A day with fewer requests may have missed its fault.
        set_fault(None)
        begin(post)
        sent.clear()
        set_fault(fault)
        return day()

    run()
    expected, requests = run(), len(sent)
    all_faults = [{**fault, "match": {"nth": nth}} for fault in faults for nth in range(1, requests + 1)]
    return expected, [(fault, actual) for fault in all_faults if (actual := run(fault)) != expected]


def run(code, names, answer):
    try:
        expression = compile(code, "code", "eval")
    except SyntaxError:
        exec(code, names)
    else:
        answer.setdefault("value", eval(expression, names))


for line in sys.stdin:
    queue, answer = new_queue(), {}
    own = {"queue": queue, "redis": queue._redis, "report": lambda value: answer.update(value=value)}
    try:
        run(json.loads(line), {**globals(), **own}, answer)
    except BaseException:
        answer = {"failure": traceback.format_exc()}
    print(json.dumps(answer), file=answers, flush=True)
