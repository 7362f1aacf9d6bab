import { change, drop, type LawMutants, never } from "../mutant.ts";

export const repair: LawMutants = {
  "scan blanks the entry beside the one to remove": {
    breaks: "I1",
    in: "read_list",
    lua: change("first + i - 1", "first + i"),
    because: "a valid task loses its place",
  },
  "scan blanks entries of a later release": {
    breaks: "law 12",
    lua: change("places and not entry.newer", "places"),
    because: "the other release's tasks are never delivered",
  },
  "blank-duplicates keeps the entry that comes out last": {
    breaks: "I8",
    lua: change("sorted[i]", "sorted[#sorted + 1 - i]"),
    because: "a task loses the place for which it has waited",
  },
  "blank-duplicates removes every entry of a task": {
    breaks: "law 10",
    lua: change("#sorted - entry.expected", "#sorted"),
    because: "the repair loses the task",
  },
  "place-lost gives no place to a task without one": {
    breaks: "law 10",
    lua: drop("make_ready(plan, id, task, 'back')"),
    because: "a task is reported as repaired, and never delivered",
  },
  "recount-groups lets no task in": {
    breaks: "limits",
    in: "recount-groups",
    lua: drop("admit_limited(plan)"),
    because: "tasks held by a wrong count stay held",
  },
  "repair-control begins lease numbers anew": {
    breaks: "I2",
    in: "spare",
    lua: change("now", "0"),
    because: "a number is given out twice, and an old cancel meets a new lease",
  },
  "repair-control forgets entries that were set aside meanwhile": {
    breaks: "law 10",
    lua: change("all_seen and int(was_added) or found[other]", "int(added)"),
    because: "broken entries that dequeue met are counted nowhere",
  },
  "check does not compare the list with the records": {
    breaks: "I1",
    lua: never("(places[entry.id] or 0) ~= entry.expected"),
    because: "a task that is in no list is never given a place",
  },
  "broken records that were set aside never expire": {
    breaks: "law 10",
    lua: drop("plan_write(plan, 'ZADD expiry', int(repair.now + DEFAULT_DEAD_TTL), _)"),
    because: "broken records fill the hash for good",
  },
  "a working task without a lease is not taken back": {
    breaks: "law 10",
    lua: drop("repair.lost[#repair.lost + 1] = id"),
    because: "a task is marked working for good, without a holder",
  },
  "the lease counter stays behind numbers that are in use": {
    breaks: "I2",
    lua: drop("plan_write(repair.plan, 'HSET tasks', '~lease', _)"),
    because: "after a failover a lease number is given out twice",
  },
  "a dead letter that is in no list stays so": {
    breaks: "I1",
    lua: never("dead_letter and not entry.dead"),
    because: "an operator cannot find it to redrive it",
  },
};
