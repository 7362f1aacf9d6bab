import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const sweep: LawMutants = {
  "sweep leaves expired dead letters listed": {
    lua: drop("write('ZREM', dead, expired_ids)"),
    breaks: "I1: dead letters are counted of which nothing is left",
  },
  "sweep says done after as many promotions as it may make": {
    lua: never("promoted == most"),
    breaks: "law 7: due tasks wait a minute longer for each thousand in front of them",
  },
  "sweep says done after as many reclaims as a call may make": {
    lua: never("unreclaimed"),
    breaks: "law 7: expired leases wait a minute longer for each 160 in front of them",
  },
  "sweep reclaims as many leases as its limit allows": {
    lua: change("math.min(limit, MAX_PLAN_LEASES)", "limit"),
    breaks: "law 7: all other clients wait for it",
  },
  "sweep reclaims a second late": {
    lua: change("reclaim(keys, now, …)", "reclaim(keys, now - 1000, …)"),
    breaks: "I6: an expired lease is left for another minute",
  },
  "sweep does not report records that it left to a later release": {
    in: "expire",
    lua: change("left + 1", "left"),
    breaks: "law 10: expired records are silently skipped",
  },
  "a reclaimed task goes to the back": {
    lua: change("'front'", "'back'"),
    breaks: "I8: what has waited longest waits once more behind all",
  },
  "expired leases are not counted": {
    lua: drop("add(task, 'expired_leases', 1)"),
    breaks: "law 11: one task that kills its function takes a batch to the dead letters",
  },
  "a flagged task whose lease expired is delivered again": {
    in: "revoke",
    lua: never("task.cancel_requested"),
    breaks: "cancelling: a cancelled task runs once more",
  },
  "due tasks are put in line and stay delayed": {
    lua: drop("write('ZREM', keys.delayed, due.promoted)"),
    breaks: "I1: a task is delivered at each sweep",
  },
  "a later release's due task is dropped": {
    lua: drop("plan_write(plan, 'ZADD delayed', int(now + RETRY) .. _, _)"),
    breaks: "law 12: the other release never delivers it",
  },
  "a sweep leaves what one call did not finish": {
    in: "SweepPass",
    src: change("this.#add(_1, _2)", "this.#add(_1, _2) && false"),
    breaks: "I6: of many due tasks a thousand a minute are promoted",
  },
  "a queue is noted once in the life of an instance": {
    in: "Note",
    src: change("NOTE_EVERY", "Number.POSITIVE_INFINITY"),
    breaks: "I6: a queue that was idle for an hour is swept no more",
  },
  "register takes the note of a queue back": {
    lua: change("redis.call('ZADD', queues, 'GT', …)", "redis.call('ZADD', queues, …)"),
    breaks: "law 4: after a clock jumped back queues in use look as if long unused",
  },
  "list-queues has one page only": {
    in: "list-queues",
    lua: change("page[1]", "'0'"),
    breaks: "law 7: queues beyond the first page are never swept",
  },
  "forget-dequeues forgets those of a queue in use": {
    in: "forget-dequeues",
    lua: change("redis.call('EXISTS', pending, …)", "redis.call('EXISTS', pending)"),
    breaks: "law 5: a resent dequeue leases other tasks, and the first ones have no holder",
  },
  "unregister takes queues that were noted since": {
    lua: always("tonumber(seen) <= tonumber(since)"),
    breaks: "law 5: a late copy takes a queue that is in use again",
  },
  "wake believes a time that has not come yet": {
    lua: always("now >= sent"),
    breaks: "law 4: after a clock jumped back no consumer is woken until it has caught up",
  },
  "wake shortens the window of those awake": {
    lua: change("math.max(tonumber(window), given)", "tonumber(window)"),
    breaks: "waking: a hand-over makes the next enqueue wake consumers that are awake",
  },
  "a clock that jumped back keeps consumers awake": {
    lua: change("now >= awake or now < awake - window", "now >= awake"),
    breaks: "law 4: no consumer is woken until the clock has caught up",
  },
  "enqueue wakes consumers of a paused queue": {
    in: "plan_wake",
    lua: never("parse_settings(_, plan.now).paused"),
    breaks: "waking: functions are started that get no tasks",
  },
  "a pass of alert rules begins at any time": {
    lua: never("now - tonumber(began) < tonumber(interval)"),
    breaks: "law 3: each of many crons pays for measuring all queues",
  },
  "a resend of the begin of a pass counts as another pass": {
    lua: never("last_token == token"),
    breaks: "law 5: after a lost reply no rule is evaluated for a minute",
  },
  "a record of alerts is written over another pass's": {
    lua: change("current == was and current ~= record", "current ~= record"),
    breaks: "I3: the claim of one pass is lost, and its alert is sent twice",
  },
  "an alert is sent again with another id": {
    src: change("{ ...open, to, claimedUntil: _1 }", "{ ...open, id: newToken(), to, claimedUntil: _1 }"),
    breaks: "law 5: receivers cannot drop the second copy",
  },
};
