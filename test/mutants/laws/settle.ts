import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const settle: LawMutants = {
  "settle takes any lease number": {
    breaks: "law 6",
    lua: change(
      "task.lease_number .. ',' .. task.lease_token ~= proof",
      "task.lease_token ~= string.match(proof, ',(.*)$')",
    ),
    because: "a receipt of another lease is as good as the current one",
  },
  "settle answers another outcome as if it were a resend": {
    breaks: "law 6",
    lua: change("receipt .. ','", "string.match(receipt, '^%d+,[^,]*,')"),
    because: "a reject after the completion is answered ok, and did nothing",
  },
  "settle lets a flagged task be requeued": {
    breaks: "cancelling",
    in: "destination",
    lua: change("task.cancel_requested", "task.cancel_requested and outcome == 'reject'"),
    because: "a cancelled task is delivered again",
  },
  "settle charges what was handed back unstarted": {
    breaks: "I5",
    lua: change("uncounted or outcome == 'unstarted'", "uncounted"),
    because: "tasks that were never begun run out of attempts",
  },
  "settle forgets that an extend came before the end in one call": {
    breaks: "I1",
    lua: drop("longer[id] = nil"),
    because: "a task that has ended is in working again",
  },
  "settle puts requeued tasks where they were": {
    breaks: "I8",
    lua: change("outcome == 'unstarted' and 'unstarted' or 'back'", "'unstarted'"),
    because: "a task that keeps failing blocks all behind it",
  },
  "an extend may shorten a lease": {
    breaks: "law 5",
    lua: change("redis.pcall('ZADD', keys.working, 'GT', …)", "redis.pcall('ZADD', keys.working, …)"),
    because: "a heartbeat with a short lease takes time away from a holder",
  },
  "a late copy of an extend overwrites newer progress": {
    breaks: "law 5",
    lua: always("not known_call or string.sub(marks, -#mark) == mark"),
    because: "a watcher of the task sees its work go backwards",
  },
  "a plain settle takes any receipt": {
    breaks: "I2",
    lua: never("number .. ',' .. token ~= proof"),
    because: "a consumer that lost a lease ends the task of its new holder",
  },
  "a plain settle completes twice what is settled twice in one call": {
    breaks: "I3",
    lua: change("redis.pcall('ZREM', working, …) ~= count", "not redis.pcall('ZREM', working, …)"),
    because: "the second result replaces the first",
  },
  "settle that is not plain forgets its call": {
    breaks: "law 5",
    in: "settle",
    lua: change("settle_in_full(_1, _2, call, …)", "settle_in_full(_1, _2, '', …)"),
    because: "a late copy of an extend overwrites newer progress",
  },
  "settle-and-dequeue loses the popped tasks if the settle is refused": {
    breaks: "I1",
    lua: drop("write('RPUSH', pending, reversed(ids or {}, 1))"),
    because: "tasks are in no list until a deep sweep finds them",
  },
  "an ended lease stays in working": {
    breaks: "I1",
    lua: drop("write('ZREM', keys.working, ended)"),
    because: "a completed task is reclaimed and delivered again",
  },
  "leases end one command each": {
    breaks: "law 3",
    lua: change(
      "write('ZREM', keys.working, ended)",
      "for i = 1, #ended do redis.call('ZREM', keys.working, ended[i]) end",
    ),
    because: "a batch of a hundred costs a hundred commands",
  },
  "a full Redis lets nothing be settled": {
    breaks: "law 1",
    in: "store_fields",
    lua: never("failed"),
    because: "finished tasks cannot be settled, and the queue never drains",
  },
  "a task ends without the time until which its id is known": {
    breaks: "I7",
    in: "end_task",
    lua: change("math.max(ttl, RESEND_WINDOW)", "ttl"),
    because: "a completed id without a result is enqueued and delivered again by a resend",
  },
  "a task has five attempts by default": {
    breaks: "I5",
    lua: change("local DEFAULT_MAX_ATTEMPTS = 10", "local DEFAULT_MAX_ATTEMPTS = 5"),
    because: "a task whose receiver is down for an hour becomes a dead letter",
  },
  "a delivery more than the most is allowed": {
    breaks: "I5",
    lua: change("tonumber(task.charged) >= most", "tonumber(task.charged) > most"),
    because: "maxAttempts 5 gives six deliveries",
  },
  "records of the next release are taken for this one's": {
    breaks: "law 12",
    in: "newer",
    lua: change("version ~= '1'", "tonumber(version) > 2"),
    because: "an old function rewrites what it cannot read",
  },
  "numbers are written as the local Lua prints them": {
    breaks: "law 8",
    lua: change("string.format('%.0f', tonumber(number))", "tostring(number)"),
    because: "an instant becomes 1.7e+12",
  },
  "commands have as many arguments as there are": {
    breaks: "law 8",
    lua: change("local SLICE = 1000", "local SLICE = 100000"),
    because: "a sweep of ten thousand due tasks fails with too many results to unpack",
  },
  "results that are falsy are dropped": {
    breaks: "law 9",
    src: change("settlement.result === undefined", "!settlement.result"),
    because: "a result 0, false or null is returned as none",
  },
  "cancel ignores the lease number": {
    breaks: "law 5",
    lua: never("task.lease_number ~= lease"),
    because: "a late copy of a cancel ends a later attempt",
  },
  "cancel does not count its ghost": {
    breaks: "I1",
    lua: drop("plan_write(plan, 'HSET tasks', '~ghosts', int(ghosts + 1))"),
    because: "the queue counts a cancelled task as pending",
  },
  "cancel ends a completed task as cancelled": {
    breaks: "I3",
    in: "cancel",
    lua: never("task.state == STATE.completed"),
    because: "a reported result is removed, and a ghost is counted that is none",
  },
  "cancel touches a record of a later release": {
    breaks: "law 12",
    in: "cancel",
    lua: never("newer(record)"),
    because: "an old function rewrites what it cannot read",
  },
  "get reads a changing record of a later release": {
    breaks: "law 12",
    in: "get",
    lua: never("newer(record)"),
    because: "a task that the other release works on is shown as pending",
  },
};
