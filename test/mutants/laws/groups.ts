import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const groups: LawMutants = {
  "weights count for nothing": {
    breaks: "fairness",
    lua: change("math.floor(SHARE / _)", "SHARE"),
    because: "a group with weight 10 gets as much as any other",
  },
  "the lowest priority comes first": {
    breaks: "fairness",
    lua: change("(9 - band) * BAND", "band * BAND"),
    because: "urgent tasks wait for all others",
  },
  "a group that comes late is served for all the time before": {
    breaks: "fairness",
    lua: change("math.max(plan.times[band] or 0, share.last_tag)", "share.last_tag"),
    because: "a newcomer's backlog goes before all others",
  },
  "a task handed back loses its place": {
    breaks: "I8",
    lua: never("place == 'unstarted' and task.fair_score"),
    because: "a group pays twice for a task that was not begun",
  },
  "a group's limit ignores working tasks": {
    breaks: "limits",
    lua: change("group.settings.max_working - group.working", "group.settings.max_working - 0"),
    because: "a tenant has more at work than it may",
  },
  "what is delivered of a group is not counted": {
    breaks: "limits",
    in: "note_delivery",
    lua: change("group.working + 1", "group.working"),
    because: "a group's limit never binds",
  },
  "a group at its limit is delivered all the same": {
    breaks: "limits",
    lua: never("deliverable(group, plan.now) < 1"),
    because: "a limit set over a backlog does not bind",
  },
  "an ended lease still counts for its group": {
    breaks: "limits",
    lua: change("group.working - 1", "group.working"),
    because: "a group comes to a stop at its limit",
  },
  "dequeue applies maxWorking to one call only": {
    breaks: "limits",
    lua: change("allowed(_1, _2, leased, …)", "allowed(_1, _2, 0, …)"),
    because: "more tasks work at once than the queue allows",
  },
  "one task more works than the queue allows": {
    breaks: "limits",
    lua: change("settings.max_working - working", "settings.max_working - working + 1"),
    because: "what the limit protects is overrun",
  },
  "rates count nothing": {
    breaks: "limits",
    in: "lease_all",
    lua: drop("plan_write(plan, 'HSET tasks', '~rate', used)"),
    because: "a queue's rate never binds",
  },
  "what was counted before the clock jumped back stays in the future": {
    breaks: "law 4",
    lua: change("when, jumped = current, true", "jumped = true"),
    because: "a rate gives nothing until the clock is where it was",
  },
  "configure lets no task in when it loosens a limit": {
    breaks: "limits",
    in: "follow_group",
    lua: drop("admit_limited(plan)"),
    because: "held tasks stay held with room in front of them",
  },
  "put-schedule writes over what changed meanwhile": {
    breaks: "I3",
    lua: never("was ~= '*' and was ~= found"),
    because: "of two who change a schedule at once one is undone",
  },
  "put-schedule does it again for a late copy": {
    breaks: "law 5",
    in: "put-schedule",
    lua: change(
      "_1, _2 = earlier_answer(operator_calls, token)",
      "_2 = redis.call('GET', operator_calls) or ''",
    ),
    because: "a late removal takes a schedule that was put anew",
  },
  "list-schedules has one page only": {
    breaks: "law 7",
    lua: change("{ 'ok', next_cursor }", "{ 'ok', '0' }"),
    because: "schedules beyond the first page are unseen",
  },
  "due-schedules gives one more than asked for": {
    breaks: "law 7",
    lua: change("#names == tonumber(limit)", "#names > tonumber(limit)"),
    because: "more come than the call that enqueues them takes",
  },
  "run-schedules enqueues for a schedule that changed meanwhile": {
    breaks: "schedules",
    lua: never("record ~= read_record or _"),
    because: "a schedule that was paused or removed occurs once more",
  },
  "run-schedules enqueues an occurrence that is known": {
    breaks: "I7",
    lua: always("not stored[id]"),
    because: "one occurrence is delivered twice",
  },
  "set-reminder moves a reminder to a later time": {
    breaks: "schedules",
    lua: change("math.min(at, _)", "at + 0"),
    because: "a yearly schedule that is put hides the hourly one beside it",
  },
  "of missed occurrences the first is enqueued": {
    breaks: "schedules",
    src: change("Math.max(at, calendar.lastUntil(now) ?? at)", "at"),
    because: "after an outage a task gets an instant of days ago",
  },
};
