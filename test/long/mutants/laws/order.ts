import { change, drop, type LawMutants, never } from "../mutant.ts";

export const order: LawMutants = {
  "a task gets ready beside the head of its line": {
    in: "make_ready",
    lua: never("line.waiting > 0 or lines.is_busy(group)"),
    breaks: "I2: two tasks of an account are worked on at the same time",
  },
  "the last task of a line follows first": {
    in: "release_next",
    lua: change("one.place < other.place", "one.place > other.place"),
    breaks: "I8: entries of an account are booked in another order than they came",
  },
  "a head that ends leaves nothing behind": {
    in: "end_task",
    lua: drop("line.head = nil"),
    breaks: "I6: a group waits for ever for a task that has ended",
  },
  "a requeued task gives up the head of its line": {
    in: "wait_again",
    lua: never("line and line.ordered and not line.head and task.state == STATE.working"),
    breaks: "I8: a task that is tried again is overtaken by the next one",
  },
  "a dead letter stops no group": {
    in: "end_task",
    lua: change("is_head and line.ordered and line.stops and _1 and _2", "false"),
    breaks: "limits: a ledger goes on after an entry that failed",
  },
  "a dead letter that stops its group is forgotten": {
    in: "end_task",
    lua: change("stops and STOPPING_TTL or given", "given"),
    breaks: "law 10: an operator cannot see what has stopped a group",
  },
  "tasks that were ready before the order are delivered together": {
    in: "move_if_limited",
    lua: never("line.head or group.working > 0"),
    breaks: "I2: an order that is set over a backlog does not bind",
  },
  "a cancelled task stays in its line": {
    in: "refund",
    lua: never("line and place == plan.keys.limited and tonumber(score) < LIMITED_GROUP"),
    breaks: "I1: a task that was cancelled is delivered",
  },
  "the plain edition works on a queue with an order": {
    lua: change("settings.o and '2' .. string.sub(text, 2) or text", "text"),
    breaks: "law 12: a function that knows no order delivers tasks out of order",
  },
  "skip lets any group go on": {
    in: "leave_stopped",
    lua: never("line and line.stopped and line.head == id"),
    breaks: "I6: an operator cannot let a group go on",
  },
  "list-stopped shows the groups that go on, too": {
    lua: change("'(~~' .. after", "'-'"),
    breaks: "limits: an operator sees groups as stopped that go on",
  },
  "skip overwrites what a later release wrote": {
    in: "skip",
    lua: never("newer(fixed) or newer(record) or read_settings(plan, found[3], found[4])"),
    breaks: "law 12: the record of a later release is taken for a dead letter",
  },
};
