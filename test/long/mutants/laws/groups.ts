import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const groups: LawMutants = {
  "weights count for nothing": {
    lua: change("math.floor(SHARE / _)", "SHARE"),
    breaks: "fairness: a group with weight 10 gets as much as any other",
  },
  "the lowest priority comes first": {
    lua: change("(9 - band) * BAND", "band * BAND"),
    breaks: "fairness: urgent tasks wait for all others",
  },
  "a group that comes late is served for all the time before": {
    lua: change("math.max(plan.times[band] or 0, share.last_tag)", "share.last_tag"),
    breaks: "fairness: a newcomer's backlog goes before all others",
  },
  "a task handed back loses its place": {
    lua: never("place == 'unstarted' and task.fair_score"),
    breaks: "I8: a group pays twice for a task that was not begun",
  },
  "a group's limit ignores working tasks": {
    lua: change(
      "(group.settings.max_working or math.huge) - group.working",
      "(group.settings.max_working or math.huge) - 0",
    ),
    breaks: "limits: a tenant has more at work than it may",
  },
  "a paused group is delivered": {
    in: "parse_group",
    lua: never("group.settings.paused"),
    breaks: "limits: an operator cannot hold back a tenant",
  },
  "what is delivered of a group is not counted": {
    in: "note_delivery",
    lua: change("group.working + 1", "group.working"),
    breaks: "limits: a group's limit never binds",
  },
  "a group at its limit is delivered all the same": {
    lua: never("deliverable(group, plan.now) < 1"),
    breaks: "limits: a limit set over a backlog does not bind",
  },
  "an ended lease still counts for its group": {
    lua: change("group.working - 1", "group.working"),
    breaks: "limits: a group comes to a stop at its limit",
  },
  "dequeue applies maxWorking to one call only": {
    lua: change("allowed(_1, _2, leased, …)", "allowed(_1, _2, 0, …)"),
    breaks: "limits: more tasks work at once than the queue allows",
  },
  "one task more works than the queue allows": {
    lua: change("settings.max_working - working", "settings.max_working - working + 1"),
    breaks: "limits: what the limit protects is overrun",
  },
  "rates count nothing": {
    in: "lease_all",
    lua: drop("plan_write(plan, 'HSET tasks', '~rate', used)"),
    breaks: "limits: a queue's rate never binds",
  },
  "what was counted before the clock jumped back stays in the future": {
    lua: change("when, jumped = current, true", "jumped = true"),
    breaks: "law 4: a rate gives nothing until the clock is where it was",
  },
  "configure lets no task in when it loosens a limit": {
    in: "follow_group",
    lua: drop("admit_limited(plan)"),
    breaks: "limits: held tasks stay held with room in front of them",
  },
  "put-schedule writes over what changed meanwhile": {
    lua: never("was ~= '*' and was ~= found"),
    breaks: "I3: of two who change a schedule at once one is undone",
  },
  "put-schedule does it again for a late copy": {
    in: "put-schedule",
    lua: change(
      "_1, _2 = earlier_answer(operator_calls, token)",
      "_2 = redis.call('GET', operator_calls) or ''",
    ),
    breaks: "law 5: a late removal takes a schedule that was put anew",
  },
  "list-schedules has one page only": {
    lua: change("{ 'ok', next_cursor }", "{ 'ok', '0' }"),
    breaks: "law 7: schedules beyond the first page are unseen",
  },
  "due-schedules gives one more than asked for": {
    lua: change("#names == tonumber(limit)", "#names > tonumber(limit)"),
    breaks: "law 7: more come than the call that enqueues them takes",
  },
  "run-schedules enqueues for a schedule that changed meanwhile": {
    lua: never("record ~= read_record or _"),
    breaks: "schedules: a schedule that was paused or removed occurs once more",
  },
  "run-schedules enqueues an occurrence that is known": {
    lua: always("not stored[id]"),
    breaks: "I7: one occurrence is delivered twice",
  },
  "set-reminder moves a reminder to a later time": {
    lua: change("math.min(at, _)", "at + 0"),
    breaks: "schedules: a yearly schedule that is put hides the hourly one beside it",
  },
  "of missed occurrences the first is enqueued": {
    src: change("Math.max(at, calendar.lastUntil(now) ?? at)", "at"),
    breaks: "schedules: after an outage a task gets an instant of days ago",
  },
};
