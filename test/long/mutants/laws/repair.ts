import { change, drop, type LawMutants, never } from "../mutant.ts";

export const repair: LawMutants = {
  "scan blanks the entry beside the one to remove": {
    in: "read_list",
    lua: change("first + i - 1", "first + i"),
    breaks: "I1: a valid task loses its place",
  },
  "scan blanks entries of a later release": {
    lua: change("places and not entry.newer", "places"),
    breaks: "law 12: the other release's tasks are never delivered",
  },
  "blank-duplicates keeps the entry that comes out last": {
    lua: change("sorted[i]", "sorted[#sorted + 1 - i]"),
    breaks: "I8: a task loses the place for which it has waited",
  },
  "blank-duplicates removes every entry of a task": {
    lua: change("#sorted - entry.expected", "#sorted"),
    breaks: "law 10: the repair loses the task",
  },
  "place-lost gives no place to a task without one": {
    in: "place_entry",
    lua: drop("make_ready(plan, id, task, 'back')"),
    breaks: "law 10: a task is reported as repaired, and never delivered",
  },
  "recount-groups lets no task in": {
    in: "recount-groups",
    lua: drop("admit_limited(plan)"),
    breaks: "limits: tasks held by a wrong count stay held",
  },
  "repair-control begins lease numbers anew": {
    in: "spare",
    lua: change("now", "0"),
    breaks: "I2: a number is given out twice, and an old cancel meets a new lease",
  },
  "repair-control forgets entries that were set aside meanwhile": {
    lua: change("all_seen and int(was_added) or found[other]", "int(added)"),
    breaks: "law 10: broken entries that dequeue met are counted nowhere",
  },
  "check does not compare the list with the records": {
    lua: never("(places[entry.id] or 0) ~= entry.expected"),
    breaks: "I1: a task that is in no list is never given a place",
  },
  "broken records that were set aside never expire": {
    lua: drop("plan_write(plan, 'ZADD expiry', int(repair.now + DEFAULT_DEAD_TTL), _)"),
    breaks: "law 10: broken records fill the hash for good",
  },
  "a working task without a lease is not taken back": {
    lua: drop("repair.lost[#repair.lost + 1] = id"),
    breaks: "law 10: a task is marked working for good, without a holder",
  },
  "the lease counter stays behind numbers that are in use": {
    lua: drop("plan_write(repair.plan, 'HSET tasks', '~lease', _)"),
    breaks: "I2: after a failover a lease number is given out twice",
  },
  "a dead letter that is in no list stays so": {
    lua: never("dead_letter and not entry.dead"),
    breaks: "I1: an operator cannot find it to redrive it",
  },
};
