"""Runs blocks of code with the client, a `redis` and a `queue` of their own: a JSON text of standard input each. Prints
the value of an expression, or what a block has reported, or why it failed, as a line of JSON.
"""

import io
import json
import os
import sys
import time
import traceback

import sluice
from sluice import *

URL, TOKEN = os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"]
NAME_OF_QUEUE = sys.argv[1]
answers, sys.stdout = sys.stdout, io.StringIO()


def new_queue():
    """A queue that knows nothing yet of its partitions, and is not registered."""
    return Queue(Redis(URL, TOKEN), NAME_OF_QUEUE)


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
