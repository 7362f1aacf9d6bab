import { change, drop, type LawMutants, never } from "../mutant.ts";

export const enqueue: LawMutants = {
  "enqueue answers created to a producer that repeats an id": {
    in: "find_life",
    lua: change("return is_own, nil, reused", "return true, nil, reused"),
    breaks: "law 5: a second producer with the same id believes that its own payload was taken",
  },
  "enqueue takes other tasks under a used key": {
    lua: never("key ~= nil and string.sub(token or '', 1, #key) == key"),
    breaks: "I3: those of them that are new are created, and the others are not",
  },
  "enqueue overwrites a known id's payload": {
    in: "enqueue",
    lua: change("redis.pcall('HSETNX', …)", "redis.pcall('HSET', …)"),
    breaks: "I7: a duplicate replaces the record of the task that is there",
  },
  "enqueue takes the same id twice in one batch": {
    lua: never("answered and not call.each"),
    breaks: "I1: one id is in the list twice and is delivered twice",
  },
  "enqueue writes before it refuses a full queue": {
    lua: change(
      "return is_full and 'full' or nil",
      "if is_full then store_or_undo(plan, call.stored) end return is_full and 'full' or nil",
    ),
    breaks: "I3: payloads of refused tasks stay behind, and their ids count as known",
  },
  "enqueue leaves a dead letter listed whose id begins anew": {
    in: "begin_task",
    lua: drop("plan_write(plan, 'ZREM dead', id)"),
    breaks: "I1: the id is pending and a dead letter at once",
  },
  "enqueue puts ids in line before their payloads are stored": {
    in: "commit_enqueue",
    lua: change(
      "local failed = store_or_undo(plan, call.stored)",
      `local records = plan.writes['HSET tasks']
       plan.writes['HSET tasks'] = nil
       commit(plan)
       clear_plan(plan)
       plan.writes['HSET tasks'] = records
       local failed = store_or_undo(plan, call.stored)`,
    ),
    breaks: "law 1: if the hash may not grow, ids without a payload stay in line after the refusal",
  },
  "enqueue never lets a dedup key go": {
    lua: drop("plan_write(plan, 'ZADD expiry', over, '~d:' .. key)"),
    breaks: "law 10: keys of past windows fill the hash for good",
  },
  "enqueue looks at settings for every lone task": {
    lua: never("count == 1 and bare"),
    breaks: "law 3: the commonest call costs more commands than the tables say",
  },
  "a plain enqueue adds an id of its own call twice": {
    lua: change("met[id] or not stands_in_list(_1)", "not stands_in_list(_1)"),
    breaks: "I1: one id is in line twice",
  },
  "a plain enqueue overwrites known tasks": {
    in: "enqueue",
    lua: change("stored['~set'] or any_known(stored, ids)", "stored['~set']"),
    breaks: "I7: a batch with a known id replaces that task's payload, and delivers it twice",
  },
  "enqueue-plain overwrites known tasks": {
    in: "enqueue-plain",
    lua: change("any_known(stored, ids)", "false"),
    breaks: "I7: a batch with a known id replaces that task's payload, and delivers it twice",
  },
  "enqueue-plain adds tasks to a queue with settings": {
    lua: change("concerns_enqueues(stored['~set'], false)", "false"),
    breaks: "law 11: a queue takes more tasks than it may",
  },
  "a refused enqueue leaves what it stored first": {
    lua: drop("write('HDEL', tasks, new)"),
    breaks: "law 1: part of a refused batch is known as tasks that are in no list",
  },
  "a unique id is forgotten with its record": {
    lua: never("known_until and known_until > now"),
    breaks: "I7: a webhook that is sent again after an hour is worked on twice",
  },
  "an idempotency key is as good as none": {
    src: change("derivedName(operation, name, key)", "newToken()"),
    breaks: "law 5: a call repeated with the same key pauses twice, or is answered created: false",
  },
  "enqueues that share a request are refused together": {
    in: "addCall",
    src: change("refuseEach ? '1' : ''", "''"),
    breaks: "law 11: one call without room fails all calls of its request",
  },
  "ids of one millisecond are in no order": {
    src: change("successor(lastRandom)", "randomDigits(RANDOM_LENGTH)"),
    breaks: "I8: tasks due at one time are delivered in another order than enqueued",
  },
  "keys of a queue have no hash tag": {
    src: change("`{${name}}`", "name"),
    breaks: "law 2: no script runs on a cluster, and two deployments do not find each other's keys",
  },
  "the client's clock decides": {
    in: "testNowOf",
    src: change("now ? String(now()) : ''", "String((now ?? Date.now)())"),
    breaks: "law 4: a function with a wrong clock reclaims living leases",
  },
};
