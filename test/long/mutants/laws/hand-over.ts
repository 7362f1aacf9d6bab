import { change, drop, type LawMutants, never } from "../mutant.ts";

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
  "a hand-over goes before tasks that wait": {
    in: "enqueue-and-lease",
    lua: change("redis.call('EXISTS', pending) == 0", "true"),
    breaks: "I8: the task that was enqueued last is delivered first",
  },
  "a hand-over ignores settings": {
    in: "enqueue-and-lease",
    lua: change("must_wake and not settings", "must_wake"),
    breaks: "law 11: a queue at its limit delivers a further task",
  },
  "a hand-over ignores groups": {
    in: "enqueue-and-lease",
    lua: change("not groups", "true"),
    breaks: "I8: a task of a group that waits is passed",
  },
  "a hand-over happens beside a consumer that is awake": {
    in: "enqueue-and-lease",
    lua: change("must_wake and not settings", "not settings"),
    breaks: "law 3: a busy queue pays for each task what only a lone task should cost",
  },
  "a hand-over starts no wait for the next wake": {
    in: "enqueue-and-lease",
    lua: drop("append(fields, '~wake', awake_text(now, wake))"),
    breaks: "law 3: every task counts as a lone one, and starts a consumer of its own",
  },
  "a hand-over is in the list too": {
    in: "enqueue-and-lease",
    lua: drop("return leased"),
    breaks: "I1: the task is working and pending",
  },
  "a drain that began with a task never looks for what is due": {
    in: "HandedOver",
    src: change("outcome === 'complete'", "outcome !== undefined"),
    breaks: "I6: a task that is requeued for two seconds waits for the next sweep",
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
    lua: drop("append(spent, '~wake', '')"),
    breaks: "law 10: the next task wakes no consumer, and waits for the sweep",
  },
};
