import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const operate: LawMutants = {
  "count returns an age below zero": {
    breaks: "law 4",
    in: "age_from",
    lua: change("math.max(0, now - tonumber(enqueued_at))", "now - tonumber(enqueued_at)"),
    because: "after a clock jumped back the oldest task is younger than none",
  },
  "list ignores the bound on bytes": {
    breaks: "law 7",
    lua: never("bytes > tonumber(max_bytes)"),
    because: "a page of large payloads does not fit into a reply",
  },
  "purge leaves cancelled tasks in their place": {
    breaks: "I1",
    in: "purge",
    lua: drop("write('ZREM', key, _)"),
    because: "ids without payloads fall due",
  },
  "purge does not put back tasks that it must not take": {
    breaks: "law 10",
    lua: drop("write('RPUSH', pending, rest)"),
    because: "tasks beyond the limit vanish from the line",
  },
  "redrive keeps what was charged": {
    breaks: "I5",
    lua: change(
      "task.charged, task.reason, task.ended_at = '0', nil, nil",
      "task.reason, task.ended_at = nil, nil",
    ),
    because: "a redriven task is dead again after one attempt",
  },
  "redrive counts attempts from the beginning": {
    breaks: "I4",
    lua: change(
      "task.charged, task.reason, task.ended_at = '0', nil, nil",
      "task.attempts, task.charged, task.reason, task.ended_at = '0', '0', nil, nil",
    ),
    because: "deliveries of before are forgotten",
  },
  "redrive leaves tasks among the dead letters": {
    breaks: "I1",
    lua: drop("plan.writes['ZREM dead'] = ids"),
    because: "a pending task is redriven again",
  },
  "redrive puts tasks to the front": {
    breaks: "I8",
    in: "redrive",
    lua: change("'back'", "'front'"),
    because: "thousands that failed once go before all others",
  },
  "redrive acts in a dry run": {
    breaks: "I3",
    lua: change("if dry ~= '1' then … end", "do … end"),
    because: "a dry run redrives everything",
  },
  "redrive ignores the lease number": {
    breaks: "law 5",
    lua: never("entry.lease ~= '' and entry.lease ~= task.lease_number"),
    because: "a late copy redrives what died again since",
  },
  "remove deletes tasks that wait": {
    breaks: "I1",
    lua: never("task.state ~= STATE.completed and task.state ~= STATE.rejected"),
    because: "a pending task loses its payload",
  },
  "configure sets again for a late copy": {
    breaks: "law 5",
    in: "configure",
    lua: never("done"),
    because: "an old pause arrives after the resume and stops the queue",
  },
  "configure overwrites settings of a later release": {
    breaks: "law 12",
    in: "configure",
    lua: never("newer(found[1])"),
    because: "settings that this release cannot read are gone",
  },
  "declare records although another declaration was recorded meanwhile": {
    breaks: "law 5",
    lua: never("found ~= was and found ~= record"),
    because: "a late copy hides that a newer declaration has to be applied again",
  },
  "list-groups reads all turns of a queue in one call": {
    breaks: "law 7",
    lua: change("#names < most and reads < MOST_READS", "#names < most"),
    because: "a call takes as long as the queue has groups",
  },
  "settings reads what a later release wrote": {
    breaks: "law 12",
    in: "settings",
    lua: never("newer(found[1])"),
    because: "an operator sees limits that are not in force",
  },
  "statistics reads the totals of a later release": {
    breaks: "law 12",
    in: "statistics",
    lua: never("newer(found[2])"),
    because: "numbers of another form are shown as counts",
  },
  "delete-queue deletes a queue with working tasks": {
    breaks: "I3",
    lua: change("force == '1' and 0 or _", "0"),
    because: "holders lose their tasks though the delete was not forced",
  },
  "calls of operators are remembered without end": {
    breaks: "law 7",
    lua: never("count >= 16"),
    because: "the notes of a busy operator grow for ever",
  },
  "heartbeat ends after its first page": {
    breaks: "law 7",
    lua: change("next_one and _ or 0", "0"),
    because: "the leases beyond a thousand expire while their worker is alive",
  },
  "heartbeat extends what another worker took": {
    breaks: "workers",
    lua: change(
      "return task.worker == worker or (proof and not task.worker)",
      "return proof or task.worker == worker",
    ),
    because: "a worker with a stranger's receipt keeps a lease alive whose holder has died",
  },
  "fail-worker says that nothing is left": {
    breaks: "law 7",
    in: "fail-worker",
    lua: change("more and 1 or 0", "0"),
    because: "of a worker with many tasks only the first thousand go back",
  },
  "failing takes a lease that is another's by now": {
    breaks: "I2",
    lua: always("task.worker == lease.owner and tonumber(task.lease_number) == lease.number"),
    because: "a stale lease entry costs the present holder its lease",
  },
  "failing a worker turns the order of its tasks round": {
    breaks: "I8",
    lua: change("one.number < other.number", "one.number > other.number"),
    because: "the last it took is delivered first",
  },
  "list-workers has one page only": {
    breaks: "law 7",
    in: "list-workers",
    lua: change("page[1]", "'0'"),
    because: "workers beyond the first page are unseen",
  },
  "an ended lease stays with its worker": {
    breaks: "workers",
    lua: drop("plan_write(plan, 'ZREM worker_leases', _)"),
    because: "a worker seems to have what it has settled long since",
  },
};
