import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const partitions: LawMutants = {
  "a partition owns all slots": {
    lua: change("not digit or _", "not digit"),
    breaks: "I7: a producer with an old map adds an id that another partition knows",
  },
  "a former partition gives up a dead letter whose id begins a new life": {
    lua: always("not (old and old.state == STATE.rejected)"),
    breaks: "I3: the dead letter is lost if the owner of its slot does not accept the task",
  },
  "find-foreign has one page only": {
    in: "find-foreign",
    lua: change("page[1]", "'0'"),
    breaks: "I7: a partition is forgotten that knows ids of others, and they are enqueued again",
  },
  "find-foreign overlooks what ended": {
    lua: never("value == ''"),
    breaks: "I7: the id of a completed task is enqueued again",
  },
  "head takes the newest task for the first": {
    in: "head",
    lua: change("'-1'", "'0'"),
    breaks: "fairness: consumers take from the wrong partition, and old tasks wait",
  },
  "list-work leaves out the first partition": {
    in: "list-work",
    lua: change("unpack(names, 2)", "unpack(names, 3)"),
    breaks: "fairness: consumers take the note of one partition for that of another",
  },
  "own-slots takes back what a later map says": {
    lua: never("noted_version > tonumber(version)"),
    breaks: "law 5: a late copy gives a slot to two owners, which both add an id",
  },
  "put-map overwrites another caller's map": {
    lua: change("found == was and found ~= map", "found ~= map"),
    breaks: "I3: of two changes at once one is undone, halfway",
  },
  "set-idle overwrites a newer note": {
    lua: change("score and int(score) == _", "score"),
    breaks: "I6: a task that came meanwhile is not found",
  },
  "rename-keys puts no markers in the place of a queue's own keys": {
    lua: drop("redis.call('SET', name[1], marker)"),
    breaks: "I7: callers that do not know of the partitions add ids again under the queue's own keys",
  },
  "shares are written over those of another caller": {
    in: "put-shares",
    lua: never("found ~= was"),
    breaks: "limits: two callers both give away the same free share",
  },
  "shares of a newer release are overwritten": {
    in: "put-shares",
    lua: never("newer(found)"),
    breaks: "law 12: an old release loses what the new one has written",
  },
  "a late copy of older shares is noted": {
    lua: never("shares and tonumber(shares) > tonumber(version)"),
    breaks: "limits: a partition takes tasks under a share that others have by now",
  },
  "a resize does not notice that the map was lost": {
    src: never("(await readNotes(queue)).version > map.version"),
    breaks: "I7: the change gets the version of the lost map, whose owners accept ids of the same slots",
  },
  "a resize forgets who had the slots": {
    src: change("inOrder([...map.former, ...losing])", "map.former"),
    breaks: "I7: ids that the former owner knows are added again, and its tasks are not found",
  },
  "former owners are not asked": {
    src: never("map.former.length > 0"),
    breaks: "I7: an id that the former owner knows is added again",
  },
  "tasks whose slot has moved are dropped": {
    src: drop("rest.push(...own);"),
    breaks: "law 10: tasks are lost that a producer enqueues under an old map",
  },
  "consumers take from any partition, not from that with the oldest task": {
    src: change("head.oldestAt || _", "0"),
    breaks: "fairness: tasks of a partition wait while newer ones of others are done",
  },
};
