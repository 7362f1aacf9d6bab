import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const order: LawMutants = {
  "a task gets ready beside the head of its line": {
    in: "make_ready",
    lua: change("line.waiting > 0 or lines.is_busy(group) or _1", "_1"),
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
    lua: change("line.head or line.hold or group.working > 0 or _1", "line.hold or _1"),
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
  "a second copy of skip wakes no consumer": {
    in: "skip",
    lua: change("not skipped and 0", "nil"),
    breaks: "waking: the group goes on, and its next task waits for cron",
  },
  "a dead letter that begins a new life still stops its group": {
    in: "begin_task",
    lua: drop("lines.leave_stopped(plan, old, draft.id)"),
    breaks: "I6: a group waits for ever for a dead letter that is none",
  },
  "a deep sweep takes a task out of its line that limited has lost": {
    in: "repair_turns",
    lua: never("lost and not entry.limited and in_line(place) and member == turn_of(name, place, id)"),
    breaks: "I8: after a failover entries of an account are booked in another order than they came",
  },
  "a deep sweep leaves a wrong count of a line": {
    in: "correct_line",
    lua: change(
      "wrong or (waiting > 0 and not lines.is_busy(group))",
      "waiting > 0 and not lines.is_busy(group)",
    ),
    breaks: "I1: a line says that it is empty, and its tasks are passed",
  },
  "a deep sweep leaves a line that nothing moves": {
    in: "correct_line",
    lua: change("wrong or (waiting > 0 and not lines.is_busy(group))", "wrong"),
    breaks: "I6: a group waits for ever for no task",
  },
  "a deep sweep keeps a head that is gone": {
    in: "correct_line",
    lua: never("line.head and (not own or waits or (has_ended(head) and not line.stopped))"),
    breaks: "I6: a group waits for ever for a task that is lost",
  },
  "a deep sweep does not list a group that is stopped": {
    in: "correct_line",
    lua: never("line.stopped and tonumber(redis.call('ZSCORE', keys.fair_by_group, stopped) or 1) ~= 0"),
    breaks: "limits: an operator does not see that a group is stopped",
  },
  "a deep sweep takes a task in two places out of its line": {
    in: "zset_of_waiting",
    lua: never("in_line(place) and not (due and due >= repair.now + 1) and not (score and leads)"),
    breaks: "I2: a task is delivered beside the head of its group",
  },
  "with its settings, a queue loses its order": {
    in: "repair_control",
    lua: never("not settings.o and has_lines(repair)"),
    breaks: "I1: tasks in line are never delivered",
  },
  "a stray member of fair-by-group gives a queue an order": {
    in: "has_lines",
    lua: change("group and select(2, _1)", "group"),
    breaks: "law 12: after a failover all producers of a plain queue are refused",
  },
  "a partition works on a group whose slot it has lost": {
    in: "begin",
    lua: always("not is_moved(plan, group)"),
    breaks: "I2: after a change of partitions two tasks of an account are worked on at the same time",
  },
  "a held line goes on": {
    in: "release_next",
    lua: change(
      "lines.is_busy(group) and 0 or 1",
      "(line.head or group.working + group.ready > 0) and 0 or 1",
    ),
    breaks: "I2: a partition works on a group whose turn another one has",
  },
  "a partition forgets which slots it has lost": {
    in: "move-slots",
    lua: drop("lost_bits = lost_bits + 2 ^ bit"),
    breaks: "I2: a delayed task begins in its former partition beside one in the new",
  },
  "a partition goes on at once with the slots that it gets": {
    in: "move-slots",
    lua: drop("unchecked_bits = unchecked_bits + 2 ^ bit"),
    breaks: "I2: a task begins in a new partition while one in the former is worked on",
  },
  "the plain edition gives slots of groups in order away": {
    src: never('settings.get("")?.has("o") && !queue.transport.passTurns'),
    breaks: "law 12: a sweep that knows no order lets two partitions work on one group",
  },
  "a late call of another map holds lines": {
    in: "hold-lines",
    lua: never("version ~= '' and noted ~= version"),
    breaks: "I2: a former partition gets a turn while the slot changes hands once more",
  },
  "a late call lifts a later hold": {
    in: "hold-lines",
    lua: change("group.line and fits", "group.line"),
    breaks: "law 5: two partitions work on one group",
  },
  "an empty line is held for ever": {
    in: "end_empty",
    lua: never("line.hold and line.waiting == 0 and not line.head and _"),
    breaks: "I6: the new partition waits for ever for the former one",
  },
  "a turn is over while its partition works": {
    src: change('line.hold !== "" && !isTurn(line.hold) && _1 && _2', "true"),
    breaks: "I2: two partitions work on one group",
  },
  "a turn begins before the owner has ended its task": {
    src: change("other.hasHead ? [] : [lift]", "[lift]"),
    breaks: "I2: two partitions work on one group",
  },
  "slots change hands while groups wait for a former partition": {
    src: change("!(await queue.transport.passTurns?.(queue, map))", "true"),
    breaks: "I8: tasks of a group are done in another order than they came",
  },
  "a former partition is forgotten while groups wait for it": {
    in: "keepPartitions",
    src: never("await queue.transport.passTurns?.(_, _, _, _, _)"),
    breaks: "I6: a group waits for ever",
  },
  "find-foreign overlooks groups in order": {
    in: "slot_names",
    lua: change("redis.call('HEXISTS', tasks, '~moved') == 1 and name_in or _1", "_1"),
    breaks: "I6: a delayed task waits for ever for its turn in a partition that was forgotten",
  },
  "list-lines overlooks lines": {
    in: "list-lines",
    lua: change("page[2]", "{}"),
    breaks: "I2: the new partition begins while the former one works on the group",
  },
  "a head that is tried again gives up its place": {
    in: "wait_again",
    lua: change("lines.set_stopped(plan, group, false)", "line.head = nil"),
    breaks: "I8: a task that is tried again is overtaken by the next one",
  },
  "a head whose lease has expired gives up its place": {
    in: "wait_again",
    lua: change("lines.set_stopped(plan, group, false)", "line.head = place ~= 'front' and id or nil"),
    breaks: "I8: entries of an account are booked in another order than they came",
  },
};
