import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const dequeue: LawMutants = {
  "dequeue of a paused queue leaves its token unspent": {
    breaks: "law 5",
    in: "check_control",
    lua: drop("use_up()"),
    because: "a late first copy leases tasks, after the resume, without a consumer",
  },
  "dequeue loses what it popped when a script error ends it": {
    breaks: "law 10",
    lua: change("put_back(taken, 1) return error_reply_for(_1)", "return error_reply_for(_1)"),
    because: "a control field that cannot be read costs a batch of tasks",
  },
  "a plain dequeue gives a copy other tasks": {
    breaks: "law 5",
    lua: change("wake or a_copy", "wake"),
    because: "a request that is sent again leases more tasks, and no consumer has the first ones",
  },
  "a plain dequeue delivers a task that has a record for the first time": {
    breaks: "I4",
    lua: change("record or not enqueued_at", "not enqueued_at"),
    because: "attempts are counted anew, and cancelled tasks are delivered",
  },
  "a plain dequeue leases an id twice that is in line twice": {
    breaks: "I2",
    lua: change("redis.pcall('ZADD', working, …) == #ids", "redis.pcall('ZADD', working, …)"),
    because: "one task has two holders",
  },
  "a dequeue that is not plain loses what it popped": {
    breaks: "I1",
    in: "dequeue",
    lua: change("dequeue_in_full(_1, _2, ids, …)", "dequeue_in_full(_1, _2, nil, …)"),
    because: "tasks are in no list until a deep sweep finds them",
  },
  "a dequeue that is not plain reads again": {
    breaks: "law 3",
    lua: change("dequeue_in_full(_1, _2, _3, _4, reads)", "dequeue_in_full(_1, _2, _3, _4, {})"),
    because: "each dequeue of a queue with settings costs a command more",
  },
  "a dequeue passes as many entries as there are": {
    breaks: "law 7",
    lua: change("local MOST_SKIPPED = 200", "local MOST_SKIPPED = 1000000"),
    because: "one call holds Redis up for as long as there are cancelled tasks in line",
  },
  "a copy of a dequeue gets tasks that others hold by now": {
    breaks: "I2",
    lua: always("task.lease_token == token"),
    because: "two work on one task under one lease",
  },
  "the line is taken from its wrong end": {
    breaks: "I8",
    in: "pop",
    lua: change("'RPOP'", "'LPOP'"),
    because: "the last that came is delivered first",
  },
  "what was looked at goes back to the wrong end": {
    breaks: "I8",
    in: "put_back",
    lua: change("'RPUSH'", "'LPUSH'"),
    because: "a task that did not fit waits behind all others",
  },
  "a dequeue that finds too few promotes nothing": {
    breaks: "I6",
    lua: drop("if ahead.due then … end"),
    because: "due tasks wait for a sweep in an idle queue",
  },
  "a killer of its function travels in large batches": {
    breaks: "law 11",
    lua: change("math.floor(batch.max / _)", "batch.max"),
    because: "it takes its whole batch to the dead letters",
  },
  "a task over the bound on bytes is never given": {
    breaks: "law 7",
    lua: change("#batch > 0 and size > batch.most_bytes", "size > batch.most_bytes"),
    because: "one large task stops the queue",
  },
  "what is put aside as broken is not counted": {
    breaks: "law 10",
    lua: drop("batch.broken = batch.broken + 1"),
    because: "entries vanish silently",
  },
  "ghosts that were dropped stay counted": {
    breaks: "I1",
    lua: change("int(batch.ghosts)", "'0'"),
    because: "the queue counts fewer pending tasks than there are",
  },
  "a record of a later release is delivered": {
    breaks: "law 12",
    in: "select_tasks",
    lua: never("newer(record)"),
    because: "an old function leases a task whose state it cannot read",
  },
  "attempts are not counted": {
    breaks: "I4",
    lua: drop("add(task, 'attempts', 1)"),
    because: "a handler cannot distinguish its first attempt from its fifth",
  },
  "the counter of leases does not rise": {
    breaks: "I2",
    lua: drop("plan_write(plan, 'HSET tasks', '~lease', _)"),
    because: "an old lease number is current again",
  },
  "a dequeue does not remember what it gave": {
    breaks: "law 5",
    lua: drop("plan_write(plan, 'HSET tasks', call.slot, _)"),
    because: "a resend leases other tasks, and the first ones have no consumer",
  },
  "a resent dequeue does not say that it is one": {
    breaks: "law 5",
    src: change("call.args.with(dequeueScript.args.indexOf('resend'), '1')", "call.args"),
    because: "a late first copy leases tasks without a consumer",
  },
  "a task that no caller gets stays leased": {
    breaks: "I6",
    src: drop("requests.handBack(this.#receipts(tasks.slice(waiting.length), token));"),
    because: "it waits for its lease to expire, and an attempt is charged",
  },
  "one caller's abort aborts the request of all": {
    breaks: "law 11",
    src: change("calls.every(_) && all.abort()", "all.abort()"),
    because: "calls fail that were not aborted",
  },
};
