import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const debounce: LawMutants = {
  "a copy of an enqueue with a key takes effect again": {
    in: "recall",
    lua: never("is_own or reused"),
    breaks: "law 5: a late copy brings an old payload back",
  },
  "a later call of a key drops what is known of the earlier ones": {
    in: "remember_call",
    lua: change("' ' .. token .. '=' .. letter .. id .. key.calls", "' ' .. token .. '=' .. letter .. id"),
    breaks: "law 5: a copy from before that call takes effect again",
  },
  "a replaced task gets the token of another producer": {
    in: "replaced_record",
    lua: change("was.producer_token and ';t=' .. was.producer_token or ''", "';t=other'"),
    breaks: "law 5: a resend of the first enqueue gets another answer",
  },
  "a replaced task begins a new life": {
    in: "replaced_record",
    lua: change("'1;' .. was.enqueued_at", "'1;' .. '7'"),
    breaks: "I7: the key does not find its task any more",
  },
  "a task that works counts as one that waits": {
    in: "enqueue-debounced",
    lua: never("at and at.has_begun"),
    breaks: "I2: the payload of a task changes while a consumer works on it",
  },
  "a singleton that works is replaced": {
    in: "enqueue-single",
    lua: never("at and at.has_begun and (blocks == 'waiting' or action == 'replace')"),
    breaks: "I2: the payload of a task changes while a consumer works on it",
  },
  "a task is replaced that has begun": {
    in: "enqueue-or-replace",
    lua: never("not at or at.has_begun"),
    breaks: "I2: the payload of a task changes while a consumer works on it",
  },
  "the life of a key's task does not matter": {
    in: "find_task",
    lua: never("has_ended(task) or (enqueued_at and task.enqueued_at ~= enqueued_at)"),
    breaks: "I7: a key holds on to a task that has ended, or to another one with its id",
  },
  "a task that moves stays in its old place too": {
    in: "reply_keyed",
    lua: drop("redis.call('ZREM', left.place, left.id)"),
    breaks: "I1: the task is in two places",
  },
  "a task that leaves the list leaves no ghost": {
    in: "leave_place",
    lua: drop("add(task, 'ghosts', 1)"),
    breaks: "I1: the task is in two places",
  },
  "maxWait does not bound the wait": {
    in: "enqueue-debounced",
    lua: change(
      "max_wait ~= '' and tonumber(at.task.enqueued_at) + tonumber(max_wait) or draft.due",
      "draft.due",
    ),
    breaks: "I6: while calls come, a debounced task is never due",
  },
  "a due task waits again": {
    in: "enqueue-debounced",
    lua: always("due > now"),
    breaks: "I6: a task whose wait is over is put off",
  },
  "a list has no end": {
    in: "enqueue-debounced",
    lua: change("string.sub(fixed, front + 1, front + 1) ~= 'j' or count >= MOST_PAYLOADS", "count < 0"),
    breaks: "law 7: a list grows without a bound",
  },
  "a list may have any size": {
    in: "enqueue-debounced",
    lua: never("#list - front - 1 > MOST_BYTES"),
    breaks: "law 7: a payload is larger than any other may be",
  },
  "a throttled task does not count": {
    in: "enqueue-throttled",
    lua: change("measure_rate(rate, used, turn_at, 1)", "measure_rate(rate, used, turn_at, 0)"),
    breaks: "limits: a period has more tasks than it may",
  },
  "delayed tasks of a throttle are due together": {
    in: "enqueue-throttled",
    lua: change("math.max(now, tonumber(known.last_at or 0))", "now"),
    breaks: "limits: a period has more tasks than it may",
  },
  "a copy of forgetKey forgets what came later": {
    in: "forget-key",
    lua: never("earlier"),
    breaks: "law 5: a late copy forgets a key that is in use again",
  },
  "a key is kept for ever": {
    in: "end_keyed",
    lua: drop(
      "plan_write(plan, 'ZADD expiry', int(math.max(keep_until, plan.now + RESEND_WINDOW)), call.field)",
    ),
    breaks: "law 7: unused keys fill the hash",
  },
  "a sealed payload goes to another task": {
    in: "enqueue-debounced",
    lua: never("keep == 'last' and sealed ~= '' and at.id ~= id"),
    breaks: "law 10: no consumer can decrypt the payload",
  },
  "a singleton that is to be cancelled stays": {
    in: "enqueue-single",
    lua: drop("cancel_task(call, at)"),
    breaks: "limits: a key has two tasks that wait",
  },
  "a throttle drops what it is to delay": {
    in: "enqueue-throttled",
    lua: change("excess == 'drop' and _1", "_1"),
    breaks: "law 10: a call is lost that was to be done later",
  },
};
