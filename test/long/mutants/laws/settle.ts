import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const settle: LawMutants = {
  "of many tasks handed back the last ones go to the front": {
    src: drop("slices.reverse()"),
    breaks: "I8: the tasks of a large batch change their order",
  },
  "settle takes any lease number": {
    lua: change(
      "task.lease_number .. ',' .. task.lease_token ~= proof",
      "task.lease_token ~= string.match(proof, ',(.*)$')",
    ),
    breaks: "law 6: a receipt of another lease is as good as the current one",
  },
  "settle answers another outcome as if it were a resend": {
    lua: change("settlement .. ','", "string.match(settlement, '^%d+,[^,]*,')"),
    breaks: "law 6: a reject after the completion is answered ok, and did nothing",
  },
  "settle lets a flagged task be requeued": {
    in: "destination",
    lua: change("task.cancel_requested", "task.cancel_requested and outcome == 'reject'"),
    breaks: "cancelling: a cancelled task is delivered again",
  },
  "settle charges what was handed back unstarted": {
    lua: change("uncounted or outcome == 'unstarted'", "uncounted"),
    breaks: "I5: tasks that were never begun run out of attempts",
  },
  "settle forgets that an extend came before the end in one call": {
    lua: drop("longer[id] = nil"),
    breaks: "I1: a task that has ended is in working again",
  },
  "settle puts requeued tasks where they were": {
    lua: change("outcome == 'unstarted' and 'unstarted' or 'back'", "'unstarted'"),
    breaks: "I8: a task that keeps failing blocks all behind it",
  },
  "an extend may shorten a lease": {
    lua: change("redis.pcall('ZADD', keys.working, 'GT', …)", "redis.pcall('ZADD', keys.working, …)"),
    breaks: "law 5: a heartbeat with a short lease takes time away from a holder",
  },
  "a late copy of an extend overwrites newer progress": {
    lua: always("not known_call or string.sub(marks, -#mark) == mark"),
    breaks: "law 5: a watcher of the task sees its work go backwards",
  },
  "a plain settle takes any receipt": {
    lua: never("number .. ',' .. token ~= proof"),
    breaks: "I2: a consumer that lost a lease ends the task of its new holder",
  },
  "a plain settle completes twice what is settled twice in one call": {
    lua: change("redis.pcall('ZREM', working, …) ~= count", "not redis.pcall('ZREM', working, …)"),
    breaks: "I3: the second result replaces the first",
  },
  "settle that is not plain forgets its call": {
    in: "settle",
    lua: change("settle_in_full(_1, _2, call, …)", "settle_in_full(_1, _2, '', …)"),
    breaks: "law 5: a late copy of an extend overwrites newer progress",
  },
  "settle-and-dequeue loses the popped tasks if the settle is refused": {
    lua: drop("write('RPUSH', pending, reversed(ids or {}, 1))"),
    breaks: "I1: tasks are in no list until a deep sweep finds them",
  },
  "an ended lease stays in working": {
    lua: drop("write('ZREM', keys.working, ended)"),
    breaks: "I1: a completed task is reclaimed and delivered again",
  },
  "leases end one command each": {
    lua: change(
      "write('ZREM', keys.working, ended)",
      "for i = 1, #ended do redis.call('ZREM', keys.working, ended[i]) end",
    ),
    breaks: "law 3: a batch of a hundred costs a hundred commands",
  },
  "a full Redis lets nothing be settled": {
    in: "store_fields",
    lua: never("failed"),
    breaks: "law 1: finished tasks cannot be settled, and the queue never drains",
  },
  "a task ends without the time until which its id is known": {
    in: "end_task",
    lua: change("math.max(ttl, RESEND_WINDOW)", "ttl"),
    breaks: "I7: a completed id without a result is enqueued and delivered again by a resend",
  },
  "a task has five attempts by default": {
    lua: change("local DEFAULT_MAX_ATTEMPTS = 10", "local DEFAULT_MAX_ATTEMPTS = 5"),
    breaks: "I5: a task whose receiver is down for an hour becomes a dead letter",
  },
  "a delivery more than the most is allowed": {
    lua: change("tonumber(task.charged) >= most", "tonumber(task.charged) > most"),
    breaks: "I5: maxAttempts 5 gives six deliveries",
  },
  "records of the next release are taken for this one's": {
    in: "newer",
    lua: change("version ~= '1'", "tonumber(version) > 2"),
    breaks: "law 12: an old function rewrites what it cannot read",
  },
  "numbers are written as the local Lua prints them": {
    in: "int",
    lua: change("string.format('%.0f', tonumber(number))", "tostring(number)"),
    breaks: "law 8: an instant becomes 1.7e+12",
  },
  "commands have as many arguments as there are": {
    lua: change("local SLICE = 1000", "local SLICE = 100000"),
    breaks: "law 8: a sweep of ten thousand due tasks fails with too many results to unpack",
  },
  "results that are falsy are dropped": {
    in: "plainCompletion",
    src: change("result === undefined", "!result"),
    breaks: "law 9: a result 0, false or null is returned as none",
  },
  "results that are falsy are dropped if they are kept for a time of their own": {
    src: change("settlement.result === undefined", "!settlement.result"),
    breaks: "law 9: a result 0, false or null is returned as none",
  },
  "cancel ignores the lease number": {
    lua: never("task.lease_number ~= lease"),
    breaks: "law 5: a late copy of a cancel ends a later attempt",
  },
  "cancel does not count its ghost": {
    lua: drop("plan_write(plan, 'HSET tasks', '~ghosts', int(ghosts + 1))"),
    breaks: "I1: the queue counts a cancelled task as pending",
  },
  "cancel ends a completed task as cancelled": {
    in: "cancel",
    lua: never("task.state == STATE.completed"),
    breaks: "I3: a reported result is removed, and a ghost is counted that is none",
  },
  "cancel touches a record of a later release": {
    in: "cancel",
    lua: never("newer(record)"),
    breaks: "law 12: an old function rewrites what it cannot read",
  },
  "get reads a changing record of a later release": {
    in: "get",
    lua: never("newer(record)"),
    breaks: "law 12: a task that the other release works on is shown as pending",
  },
};
