import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const dequeue: LawMutants = {
  "dequeue of a paused queue leaves its token unspent": {
    in: "check_control",
    lua: drop("use_up()"),
    breaks: "law 5: a late first copy leases tasks, after the resume, without a consumer",
  },
  "dequeue loses what it popped when a script error ends it": {
    lua: change("put_back(taken, 1) return error_reply_for(_1)", "return error_reply_for(_1)"),
    breaks: "law 10: a control field that cannot be read costs a batch of tasks",
  },
  "a plain dequeue gives a copy other tasks": {
    lua: change("times or a_copy", "times"),
    breaks: "law 5: a request that is sent again leases more tasks, and no consumer has the first ones",
  },
  "a plain dequeue delivers a task that has a record for the first time": {
    lua: change("record or not fixed", "not fixed"),
    breaks: "I4: attempts are counted anew, and cancelled tasks are delivered",
  },
  "a plain dequeue leases an id twice that is in line twice": {
    in: "lease_plainly",
    lua: change("added == #ids", "type(added) == 'number'"),
    breaks: "I2: one task has two holders",
  },
  "a dequeue that is not plain loses what it popped": {
    in: "dequeue",
    lua: change("dequeue_in_full(_1, _2, ids, …)", "dequeue_in_full(_1, _2, nil, …)"),
    breaks: "I1: tasks are in no list until a deep sweep finds them",
  },
  "a dequeue that is not plain reads again": {
    lua: change("dequeue_in_full(_1, _2, _3, _4, reads)", "dequeue_in_full(_1, _2, _3, _4, {})"),
    breaks: "law 3: each dequeue of a queue with settings costs a command more",
  },
  "a dequeue passes as many entries as there are": {
    lua: change("local MOST_SKIPPED = 200", "local MOST_SKIPPED = 1000000"),
    breaks: "law 7: one call holds Redis up for as long as there are cancelled tasks in line",
  },
  "a copy of a dequeue gets tasks that others hold by now": {
    lua: always("task.lease_token == token"),
    breaks: "I2: two work on one task under one lease",
  },
  "the line is taken from its wrong end": {
    in: "pop",
    lua: change("'RPOP'", "'LPOP'"),
    breaks: "I8: the last that came is delivered first",
  },
  "what was looked at goes back to the wrong end": {
    in: "put_back",
    lua: change("'RPUSH'", "'LPUSH'"),
    breaks: "I8: a task that did not fit waits behind all others",
  },
  "a dequeue that finds too few promotes nothing": {
    lua: drop("if ahead.due then … end"),
    breaks: "I6: due tasks wait for a sweep in an idle queue",
  },
  "a killer of its function travels in large batches": {
    lua: change("math.floor(batch.max / _)", "batch.max"),
    breaks: "law 11: it takes its whole batch to the dead letters",
  },
  "a task over the bound on bytes is never given": {
    lua: change("#batch > 0 and (size > batch.most_bytes or _1)", "size > batch.most_bytes or _1"),
    breaks: "law 7: one large task stops the queue",
  },
  "a dequeue of tasks with a history may be as large as one of new tasks": {
    lua: never("work > MOST_WORK"),
    breaks: "law 7: all other clients wait for it",
  },
  "due tasks are delivered before those that a timer takes from a silent worker": {
    lua: always("#due.timers == 0"),
    in: "bring_due",
    breaks: "I8: what has waited longest waits once more behind all",
  },
  "what is put aside as broken is not counted": {
    lua: drop("batch.broken = batch.broken + 1"),
    breaks: "law 10: entries vanish silently",
  },
  "ghosts that were dropped stay counted": {
    lua: change("int(batch.ghosts)", "'0'"),
    breaks: "I1: the queue counts fewer pending tasks than there are",
  },
  "a record of a later release is delivered": {
    in: "select_tasks",
    lua: never("newer(record)"),
    breaks: "law 12: an old function leases a task whose state it cannot read",
  },
  "attempts are not counted": {
    lua: drop("add(task, 'attempts', 1)"),
    breaks: "I4: a handler cannot distinguish its first attempt from its fifth",
  },
  "the counter of leases does not rise": {
    lua: drop("plan_write(plan, 'HSET tasks', '~lease', _)"),
    breaks: "I2: an old lease number is current again",
  },
  "a dequeue does not remember what it gave": {
    lua: drop("plan_write(plan, 'HSET tasks', call.slot, _)"),
    breaks: "law 5: a resend leases other tasks, and the first ones have no consumer",
  },
  "a resent dequeue does not say that it is one": {
    src: change("command.args.with(dequeueScript.args.indexOf('resend'), '1')", "command.args"),
    breaks: "law 5: a late first copy leases tasks without a consumer",
  },
  "a task that no caller gets stays leased": {
    in: "takeTogether",
    src: drop("requests.handBack(_);"),
    breaks: "I6: it waits for its lease to expire, and an attempt is charged",
  },
  "one caller's abort aborts the request of all": {
    src: change("calls.every(_) && all.abort()", "all.abort()"),
    breaks: "law 11: calls fail that were not aborted",
  },
};
