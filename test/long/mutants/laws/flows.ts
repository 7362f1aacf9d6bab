import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const flows: LawMutants = {
  "a flow is added twice": {
    in: "add-flow",
    lua: never("found[7] and string.sub(items[FIRST + 2], 1, 1) ~= '~'"),
    breaks: "law 5: a copy of the call adds the tasks of a flow again",
  },
  "a staged piece of a flow stays for ever": {
    in: "stage-flow",
    lua: drop("write('ZADD', expiry, ends)"),
    breaks: "law 10: pieces of flows that were never recorded stay",
  },
  "add-before lets go on what should wait": {
    in: "add-before",
    lua: change("int(open + 1)", "int(open)"),
    breaks: "I6: a task begins before what was added in front of it",
  },
  "an edge may be notified twice": {
    in: "follow_changes",
    lua: change("count[was] - 1", "count[was]"),
    breaks: "I6: a task waits for ever for one that has ended",
  },
  "notify does nothing": {
    in: "notify",
    lua: drop("flows.follow_changes(plan)"),
    breaks: "I6: a task waits for ever for one of another queue",
  },
  "what waits for a failed task goes on waiting": {
    in: "follow_edges",
    lua: change("open > 0 and (failed == 0 or is_join)", "open > 0"),
    breaks: "I6: a parent waits for ever because a child failed",
  },
  "read-outbox shows nothing": {
    lua: change("redis.call('ZRANGE', expiry, BLOCKED.task, …)", "redis.call('ZRANGE', expiry, '+inf', …)"),
    breaks: "I6: a flow whose consumer died does not go on",
  },
  "cancel-nodes leaves what waits": {
    in: "cancel-nodes",
    lua: drop("end_task(plan, id, task, '', 'rejected', 'cancelled')"),
    breaks: "I1: tasks of a flow that is cancelled are in no place",
  },
  "read-nodes takes blocked tasks for pending ones": {
    lua: change("task.edges and 'blocked' or 'pending'", "'pending'"),
    breaks: "law 10: a report says that a task waits for a consumer that waits for another task",
  },
  "a failure cancels nothing": {
    in: "end_task",
    lua: change("task.cancels_at and state == 'rejected'", "task.cancels_at and state == 'completed'"),
    breaks: "I6: a flow goes on that was to end with its first failure",
  },
  "read-before reads nothing of its own queue": {
    in: "read-before",
    lua: never("name == queue"),
    breaks: "law 10: a handler takes a result for gone that is kept",
  },
  "end-flow ends nothing": {
    lua: drop("write('ZADD', expiry, ended, 'XX')"),
    breaks: "law 10: records of flows stay for years",
  },
  "a dead letter that fell with another is redriven alone": {
    lua: always("entry.task.reason ~= FELL"),
    breaks: "I3: a task begins although one that it needs has failed",
  },
  "a late notice opens an edge again that has completed": {
    in: "flows",
    lua: change("{ f = 'c', x = 'e', s = 'r' }", "{ f = 'c', x = 'e', s = 'r', ['.'] = 'c' }"),
    breaks: "law 5: a task waits for ever for one that has completed",
  },
  "what other partitions have to know is nowhere but in the reply": {
    in: "notify_followers",
    lua: drop("plan_write(plan, 'ZADD expiry', BLOCKED.task, member)"),
    breaks: "I6: a flow whose consumer died does not go on",
  },
  "a task that falls does not say why": {
    in: "follow_edges",
    lua: change("because and named(because) or ''", "''"),
    breaks: "law 10: an operator cannot see which task failed",
  },
  "a redrive leaves what fell": {
    in: "wait_again",
    lua: never("was_over"),
    breaks: "I6: a flow does not go on although its task was redriven",
  },
  "an inner flow completes although a task of it failed": {
    in: "follow_changes",
    lua: change("is_join and count.x or 0", "0"),
    breaks: "I3: a task begins although a part of what it needs has failed",
  },
  "a batch without a failure calls back that it failed": {
    in: "flows",
    lua: change(
      "{ c = '.', f = '.', e = '+', x = '+', r = 'm', s = 'm' }",
      "{ c = '.', f = '.', e = '+', x = '+', r = 's', s = 's' }",
    ),
    breaks: "I3: a task runs that was to run after a failure",
  },
  "a failure cancels what cleans up": {
    in: "sparedNodes",
    src: change("after.length > 0 && isSpared", "false"),
    breaks: "cancelling: with onFailure nothing is left to clean up",
  },
  "a result goes before its flow has ended": {
    in: "end_task",
    lua: change("task.flow and UNTIL_THE_END or given", "given"),
    breaks: "law 10: a handler that begins late finds no results",
  },
  "blocked tasks are counted as delayed ones": {
    lua: always("tonumber(nodes or 0) == 0"),
    breaks: "law 10: tasks that wait for others seem to be due",
  },
  "a deep sweep looks for a flow in the wrong queue": {
    in: "homelessOf",
    src: change("[named[i]]", "[shard.name]"),
    breaks: "law 10: a deep sweep cancels tasks of a flow that is valid",
  },
};
