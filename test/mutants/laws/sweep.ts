import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const sweep: LawMutants = {
  "sweep leaves expired dead letters listed": {
    breaks: "I1",
    lua: drop("write('ZREM', dead, expired_ids)"),
    because: "dead letters are counted of which nothing is left",
  },
  "sweep says done after as many promotions as it may make": {
    breaks: "law 7",
    lua: never("promoted == most"),
    because: "due tasks wait a minute longer for each thousand in front of them",
  },
  "sweep reclaims a second late": {
    breaks: "I6",
    lua: change("reclaim(keys, now, …)", "reclaim(keys, now - 1000, …)"),
    because: "an expired lease is left for another minute",
  },
  "sweep does not report records that it left to a later release": {
    breaks: "law 10",
    in: "expire",
    lua: change("left + 1", "left"),
    because: "expired records are silently skipped",
  },
  "a reclaimed task goes to the back": {
    breaks: "I8",
    lua: change("'front'", "'back'"),
    because: "what has waited longest waits once more behind all",
  },
  "expired leases are not counted": {
    breaks: "law 11",
    lua: drop("add(task, 'expired_leases', 1)"),
    because: "one task that kills its function takes a batch to the dead letters",
  },
  "a flagged task whose lease expired is delivered again": {
    breaks: "cancelling",
    in: "revoke",
    lua: never("task.cancel_requested"),
    because: "a cancelled task runs once more",
  },
  "due tasks are put in line and stay delayed": {
    breaks: "I1",
    lua: drop("write('ZREM', keys.delayed, promoted)"),
    because: "a task is delivered at each sweep",
  },
  "a later release's due task is dropped": {
    breaks: "law 12",
    lua: drop("plan_write(plan, 'ZADD delayed', int(now + RETRY) .. _, _)"),
    because: "the other release never delivers it",
  },
  "a sweep leaves what one call did not finish": {
    breaks: "I6",
    in: "SweepPass",
    src: change("this.#add(_1, _2)", "this.#add(_1, _2) && false"),
    because: "of many due tasks a thousand a minute are promoted",
  },
  "a queue is noted once in the life of an instance": {
    breaks: "I6",
    in: "fresh",
    src: change("REGISTER_EVERY", "Number.POSITIVE_INFINITY"),
    because: "a queue that was idle for an hour is swept no more",
  },
  "register takes the note of a queue back": {
    breaks: "law 4",
    lua: change("redis.call('ZADD', queues, 'GT', …)", "redis.call('ZADD', queues, …)"),
    because: "after a clock jumped back queues in use look as if long unused",
  },
  "list-queues has one page only": {
    breaks: "law 7",
    in: "list-queues",
    lua: change("page[1]", "'0'"),
    because: "queues beyond the first page are never swept",
  },
  "forget-dequeues forgets those of a queue in use": {
    breaks: "law 5",
    in: "forget-dequeues",
    lua: change("redis.call('EXISTS', pending, …)", "redis.call('EXISTS', pending)"),
    because: "a resent dequeue leases other tasks, and the first ones have no holder",
  },
  "unregister takes queues that were noted since": {
    breaks: "law 5",
    lua: always("tonumber(seen) <= tonumber(since)"),
    because: "a late copy takes a queue that is in use again",
  },
  "wake believes a time that has not come yet": {
    breaks: "law 4",
    lua: always("now >= sent"),
    because: "after a clock jumped back no consumer is woken until it has caught up",
  },
  "wake shortens the window of those awake": {
    breaks: "waking",
    lua: change("math.max(tonumber(window), given)", "tonumber(window)"),
    because: "a hand-over makes the next enqueue wake consumers that are awake",
  },
  "a clock that jumped back keeps consumers awake": {
    breaks: "law 4",
    lua: change("now >= awake or now < awake - window", "now >= awake"),
    because: "no consumer is woken until the clock has caught up",
  },
  "enqueue wakes consumers of a paused queue": {
    breaks: "waking",
    in: "enqueue",
    lua: always("not parse_settings(_).paused"),
    because: "functions are started that get no tasks",
  },
  "a pass of alert rules begins at any time": {
    breaks: "law 3",
    lua: never("now - tonumber(began) < tonumber(interval)"),
    because: "each of many crons pays for measuring all queues",
  },
  "a resend of the begin of a pass counts as another pass": {
    breaks: "law 5",
    lua: never("last_token == token"),
    because: "after a lost reply no rule is evaluated for a minute",
  },
  "a record of alerts is written over another pass's": {
    breaks: "I3",
    lua: change("current == was and current ~= record", "current ~= record"),
    because: "the claim of one pass is lost, and its alert is sent twice",
  },
  "an alert is sent again with another id": {
    breaks: "law 5",
    src: change("{ ...open, to, claimedUntil: _1 }", "{ ...open, id: newToken(), to, claimedUntil: _1 }"),
    because: "receivers cannot drop the second copy",
  },
};
