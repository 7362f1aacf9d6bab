import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const operate: LawMutants = {
  "count returns an age below zero": {
    in: "age_from",
    lua: change("math.max(0, now - tonumber(enqueued_at))", "now - tonumber(enqueued_at)"),
    breaks: "law 4: after a clock jumped back the oldest task is younger than none",
  },
  "list ignores the bound on bytes": {
    in: "list",
    lua: never("bytes > tonumber(max_bytes)"),
    breaks: "law 7: a page of large payloads does not fit into a reply",
  },
  "a search looks in payloads that are hidden": {
    lua: always("in_payload"),
    breaks: "access: a token that hides payloads finds out what is in them",
  },
  "a day of the history counts the day before": {
    in: "count_events",
    lua: change("string.match(history, '^1;' .. int(first) .. ';.*') or ''", "history"),
    breaks: "law 10: counts of five minutes are those of several days",
  },
  "purge leaves cancelled tasks in their place": {
    in: "purge",
    lua: drop("write('ZREM', key, _)"),
    breaks: "I1: ids without payloads fall due",
  },
  "purge does not put back tasks that it must not take": {
    lua: drop("write('RPUSH', pending, rest)"),
    breaks: "law 10: tasks beyond the limit vanish from the line",
  },
  "redrive keeps what was charged": {
    lua: change(
      "task.charged, task.reason, task.ended_at = '0', nil, nil",
      "task.reason, task.ended_at = nil, nil",
    ),
    breaks: "I5: a redriven task is dead again after one attempt",
  },
  "redrive counts attempts from the beginning": {
    lua: change(
      "task.charged, task.reason, task.ended_at = '0', nil, nil",
      "task.attempts, task.charged, task.reason, task.ended_at = '0', '0', nil, nil",
    ),
    breaks: "I4: deliveries of before are forgotten",
  },
  "redrive leaves tasks among the dead letters": {
    lua: drop("plan.writes['ZREM dead'] = ids"),
    breaks: "I1: a pending task is redriven again",
  },
  "redrive puts tasks to the front": {
    in: "redrive",
    lua: change("'back'", "'front'"),
    breaks: "I8: thousands that failed once go before all others",
  },
  "redrive acts in a dry run": {
    lua: change("if dry ~= '1' then … end", "do … end"),
    breaks: "I3: a dry run redrives everything",
  },
  "redrive ignores the lease number": {
    lua: never("entry.lease ~= '' and entry.lease ~= task.lease_number"),
    breaks: "law 5: a late copy redrives what died again since",
  },
  "remove deletes tasks that wait": {
    lua: never("task.state ~= STATE.completed and task.state ~= STATE.rejected"),
    breaks: "I1: a pending task loses its payload",
  },
  "configure sets again for a late copy": {
    in: "configure",
    lua: never("done"),
    breaks: "law 5: an old pause arrives after the resume and stops the queue",
  },
  "configure ends a pause that lasts until it is resumed": {
    in: "configure",
    lua: never("was.paused == '1'"),
    breaks: "limits: a pause for a minute starts a queue that an operator has stopped",
  },
  "a handler shortens a pause": {
    in: "pause",
    lua: never("paused == 1 or paused >= ends"),
    breaks: "limits: a service that is busy for a second ends the pause of an operator",
  },
  "a pause for a time leaves consumers awake": {
    in: "pause",
    lua: change("{ '~set', set, '~wake', '' }", "{ '~set', set }"),
    breaks: "waking: when the pause is over, tasks wait for a consumer that has ended",
  },
  "a pause that is over lasts": {
    in: "parse_settings",
    lua: never("now and ends and ends <= now and ends > 1"),
    breaks: "limits: a group that was paused for a minute waits until it is resumed",
  },
  "a queue after a pause is never plain again": {
    in: "check_control",
    lua: drop("plan_write(plan, 'HDEL tasks', '~set')"),
    breaks: "law 3: each later dequeue costs as much as in a queue with settings",
  },
  "nothing is due at the end of a group's pause": {
    in: "set_timer",
    lua: never("ends > 1"),
    breaks: "limits: tasks of a group wait until another task of it ends",
  },
  "configure overwrites settings of a later release": {
    in: "configure",
    lua: never("newer_settings(found[1])"),
    breaks: "law 12: settings that this release cannot read are gone",
  },
  "declare records although another declaration was recorded meanwhile": {
    lua: never("found ~= was and found ~= record"),
    breaks: "law 5: a late copy hides that a newer declaration has to be applied again",
  },
  "list-groups reads all turns of a queue in one call": {
    lua: change("#names < most and reads < MOST_READS", "#names < most"),
    breaks: "law 7: a call takes as long as the queue has groups",
  },
  "examine names every group at a limit": {
    lua: change("#ids < GROUPS", "#ids < 1000"),
    breaks: "law 7: a call takes as long as the queue has groups",
  },
  "examine shows groups of a later release": {
    in: "groups_at_limit",
    lua: never("newer(state) or newer_settings(settings)"),
    breaks: "law 12: an operator sees limits that are not in force",
  },
  "settings reads what a later release wrote": {
    in: "settings",
    lua: never("newer_settings(found[1]) or newer(found[2])"),
    breaks: "law 12: an operator sees limits that are not in force",
  },
  "statistics reads the totals of a later release": {
    in: "statistics",
    lua: never("newer(found[2])"),
    breaks: "law 12: numbers of another form are shown as counts",
  },
  "delete-queue deletes a queue with working tasks": {
    lua: drop("count = redis.call('ZCARD', working)"),
    breaks: "I3: holders lose their tasks though the delete was not forced",
  },
  "calls of operators are remembered without end": {
    lua: never("count >= 16"),
    breaks: "law 7: the notes of a busy operator grow for ever",
  },
  "heartbeat ends after its first page": {
    lua: change("next_one and _ or 0", "0"),
    breaks: "law 7: the leases beyond a thousand expire while their worker is alive",
  },
  "heartbeat extends what another worker took": {
    lua: change(
      "return task.worker == worker or (proof and not task.worker)",
      "return proof or task.worker == worker",
    ),
    breaks: "workers: a worker with a stranger's receipt keeps a lease alive whose holder has died",
  },
  "lists have a failed worker as long as its note": {
    lua: change("at and at + FORGOTTEN_AFTER > now", "at"),
    breaks: "workers: an operator looks for a process that has been gone for a day",
  },
  "the field of failed workers grows": {
    lua: change("string.sub(table.concat(lost, ';'), 1, 2000)", "table.concat(lost, ';')"),
    breaks: "law 7: a queue whose workers fail again and again has an ever longer field",
  },
  "fail-worker says that nothing is left": {
    in: "fail-worker",
    lua: change("more and 1 or 0", "0"),
    breaks: "law 7: of a worker with many tasks only the first thousand go back",
  },
  "forget-worker forgets a worker with tasks": {
    in: "forget-worker",
    lua: always("count == 0"),
    breaks: "I3: no list has the worker whose tasks are waited for",
  },
  "failing takes a lease that is another's by now": {
    lua: always("task.worker == lease.owner and tonumber(task.lease_number) == lease.number"),
    breaks: "I2: a stale lease entry costs the present holder its lease",
  },
  "an operator's taking back counts as an expired lease": {
    in: "examine",
    lua: change("string.find(entry, _) and 1 or 0", "0"),
    breaks: "workers: a task whose worker was failed twice seems to kill its process",
  },
  "a task that an operator took back is recorded as expired": {
    in: "fail-worker",
    lua: change("'taken_back'", "nil"),
    breaks: "workers: who is on call looks for a consumer that crashed",
  },
  "failing a worker turns the order of its tasks round": {
    lua: change("one.number < other.number", "one.number > other.number"),
    breaks: "I8: the last it took is delivered first",
  },
  "list-workers has one page only": {
    in: "list-workers",
    lua: change("page[1]", "'0'"),
    breaks: "law 7: workers beyond the first page are unseen",
  },
  "an ended lease stays with its worker": {
    lua: drop("plan_write(plan, 'ZREM worker_leases', _)"),
    breaks: "workers: a worker seems to have what it has settled long since",
  },
  "an event has values of any length": {
    lua: never("#value > 1800 or noted.bytes > 64000 or string.find(value, '\\n', 1, true)"),
    breaks: "law 7: a message grows with the results of a batch",
  },
  "an event has a value of any length after others": {
    lua: never("noted.bytes > 64000"),
    breaks: "law 7: a message grows with the size of a batch",
  },
  "a queue without events publishes progress": {
    in: "extend",
    lua: always("plan.settings.events"),
    breaks: "law 3: an extend counts as an event of a queue that publishes none",
  },
  "a token that hides payloads gets progress of a queue's events": {
    src: never('hides && event === "progress"'),
    breaks: "access: who may not see payloads sees progress",
  },
  "a token that hides payloads gets results of a queue's events": {
    src: change("hides ? hidePayloads(task) : task", "task"),
    breaks: "access: who may not see payloads sees results",
  },
  "examine takes failures of before the last completion": {
    in: "attempts",
    lua: always("at > completed_at"),
    breaks: "law 10: a queue that was healthy until just now is said to fail since yesterday",
  },
  "examine takes attempts that lost their lease for failed ones": {
    in: "failure_of",
    lua: never("not last"),
    breaks: "law 10: a poison task is said to be a receiver that is down",
  },
};
