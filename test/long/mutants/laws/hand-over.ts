import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const handOver: LawMutants = {
  "a hand-over overwrites known tasks": {
    in: "enqueue-and-lease",
    lua: never("known > 0"),
    breaks: "law 5: a late copy leases a task again, and its handler runs twice",
  },
  "a copy of a hand-over does not get the tasks": {
    in: "enqueue-and-lease",
    lua: never("holder == token"),
    breaks: "law 5: after a lost reply the task waits until its lease expires",
  },
  "a late copy of an enqueue gets the tasks of another consumer": {
    in: "enqueue-and-lease",
    lua: change("holder == token", "holder"),
    breaks: "I2: two consumers have the same lease",
  },
  "a copy of a hand-over gets some of its tasks": {
    in: "enqueue-and-lease",
    lua: change("#leased == 2 + 2 * #ids", "#leased > 2"),
    breaks: "I2: the leases are of other tasks than the consumer takes them for",
  },
  "a copy of a hand-over takes a task's own lease for the consumer's": {
    in: "enqueue-and-lease",
    lua: change("string.match(fixed or '', '^[^\\n]*;l=(%d+)') or lease", "lease"),
    breaks: "law 5: the copy says another deadline",
  },
  "a hand-over goes before tasks that wait": {
    in: "enqueue-and-lease",
    lua: change("redis.call('EXISTS', pending) == 0", "true"),
    breaks: "I8: the task that was enqueued last is delivered first",
  },
  "a hand-over ignores settings that concern enqueues": {
    in: "enqueue-and-lease",
    lua: never("concerns_enqueues(settings, true)"),
    breaks: "law 11: a queue takes more tasks than it may",
  },
  "a hand-over ignores settings and groups": {
    in: "lease_plainly",
    lua: change("set or times or a_copy", "a_copy"),
    breaks: "law 11: a queue at its limit delivers a further task, or a task of a group is passed",
  },
  "a hand-over happens beside a consumer that is awake": {
    in: "enqueue-and-lease",
    lua: change(
      "must_wake and lease ~= '' and redis.call('EXISTS', pending) == 0",
      "lease ~= '' and redis.call('EXISTS', pending) == 0",
    ),
    breaks: "law 3: a busy queue pays for each task what only a lone task should cost",
  },
  "a hand-over starts no wait for the next wake": {
    in: "enqueue-and-lease",
    lua: drop("append(fields, '~wake', awake_text(now, wake, awake))"),
    breaks: "law 3: every task counts as a lone one, and starts a consumer of its own",
  },
  "a hand-over is in the list too": {
    in: "enqueue-and-lease",
    lua: drop("return leased"),
    breaks: "I1: the task is working and pending",
  },
  "a hand-over leases a task that has one attempt": {
    src: change("ONE_ATTEMPT.test(front)", "false"),
    breaks: "law 10: if the reply is lost, the task becomes a dead letter that no handler has seen",
  },
  "a drain does not look for what it has requeued": {
    src: change("outcome === 'complete'", "outcome !== undefined"),
    breaks: "I6: a task that is requeued for two seconds waits for the next sweep",
  },
  "a drain that began with a task ignores what its handler has delayed": {
    in: "HandedOver",
    src: change("isDue || _1 || this.#mustLook()", "isDue || _1"),
    breaks:
      "I6: a task that is delayed for a moment, or was before a long one began, waits for the next sweep",
  },
  "a drain dequeues beside the tasks that were handed over": {
    in: "HandedOver",
    src: change("this.#waiting.shift() ?? _1", "_1"),
    breaks: "law 3: a lone task costs a request more, and is handed back when the drain ends",
  },
  "tasks are handed over to a consumer that works": {
    in: "addingFor",
    src: change("_1 || drains.isRunning(name)", "_1"),
    breaks: "law 3: the drain may have no free handler, and the tasks are handed back",
  },
  "tasks are handed over to a consumer with a worker's name": {
    in: "addingFor",
    src: change("work.worker ?? platform.drains?.worker", "false"),
    breaks: "workers: the tasks of a worker that failed are not returned with it",
  },
  "more tasks are handed over than a consumer can begin": {
    in: "addingFor",
    src: change("count > Math.min(concurrency, batch, affordable, _1)", "count > _1"),
    breaks: "law 11: tasks wait for a free handler under leases that other consumers could have",
  },
  "tasks are handed back to a running drain, which does not learn of it": {
    in: "Consumers.handOver",
    src: drop("await this.work(name, time(), drains)"),
    breaks: "waking: the tasks wait although a handler is free",
  },
  "tasks that no drain has begun stay leased": {
    in: "handBack",
    src: always("settlements.length === 0"),
    breaks: "law 10: after a process has closed, its tasks wait until their leases expire",
  },
  "an enqueue that wakes does so in a paused queue": {
    in: "enqueue-and-wake",
    lua: change("paused == 1 or paused > now or _1", "_1"),
    breaks: "waking: each task of a paused queue starts a consumer that finds nothing",
  },
  "a plain dequeue does not keep its consumer awake": {
    in: "lease_plainly",
    lua: drop("append(fields, '~wake', awake_text(now, nil, wake))"),
    breaks: "waking: a consumer is woken beside one that works for longer than the window",
  },
  "tasks are handed over to a consumer that begins after the response": {
    in: "addingFor",
    src: change("platform.beginsAfterResponse || _1", "_1"),
    breaks: "law 6: a lease ends before the handler begins, and another consumer works on the task too",
  },
  "a drain does not look for what another of its requests has requeued": {
    in: "HandedOver",
    src: never("!onlyCompletes(batch)"),
    breaks: "I6: a task that is requeued for two seconds waits for the next sweep",
  },
  "lone tasks never make a drain look for what is due": {
    lua: change("now < looked or now >= looked + tonumber(look_after)", "now < looked"),
    breaks: "I6: without cron, what is due later waits for good",
  },
  "each lone task makes a drain look for what is due": {
    lua: change("now < looked or now >= looked + tonumber(look_after)", "true"),
    breaks: "law 3: a lone task costs two commands more than the page on costs says",
  },
  "an enqueue that wakes overwrites known tasks": {
    in: "enqueue-and-wake",
    lua: change("any_known(stored, ids)", "false"),
    breaks: "I7: a batch with a known id replaces that task's payload, and delivers it twice",
  },
  "an enqueue that wakes never looks if the list was empty": {
    in: "enqueue-and-wake",
    lua: change("redis.call('LPUSH', pending, id) > 1", "redis.call('LPUSH', pending, id) > 0"),
    breaks: "law 10: a task after the consumer has ended waits for the sweep",
  },
  "a consumer that finds nothing stays awake": {
    in: "lease_plainly",
    lua: drop("append(spent, '~wake', asleep_text(wake))"),
    breaks: "law 10: the next task wakes no consumer, and waits for the sweep",
  },
  "a full Redis stores what a hand-over is refused": {
    in: "lease_plainly",
    lua: change("not leased and type(added) == 'number'", "not leased"),
    breaks: "law 10: a Redis at its limit takes more tasks, and the enqueue does not say queue_full",
  },
  "what a settle-and-dequeue puts back is forgotten": {
    in: "#settleAndTake",
    src: drop("this.#notePutBack(batch)"),
    breaks: "I6: a task that is to be tried again in two seconds waits for the next sweep",
  },
  "a task that was handed over counts as a full dequeue": {
    src: change("tasks.length >= max && tasks.nextDueAt !== null", "tasks.length >= max"),
    breaks: "law 3: a lone task wakes a second consumer, which finds nothing",
  },
  "a consumer stays awake in a partition whose tasks it took before the queue was divided": {
    in: "PartitionTurns",
    src: never("!this.#asked.has(partition)"),
    breaks: "law 10: the next task there wakes no consumer, and waits for the sweep",
  },
};
