import { always, change, drop, type LawMutants, never } from "../mutant.ts";

export const partitions: LawMutants = {
  "a partition owns all slots": {
    breaks: "I7",
    lua: change("not digit or _", "not digit"),
    because: "a producer with an old map adds an id that another partition knows",
  },
  "a former partition gives up a dead letter whose id begins a new life": {
    breaks: "I3",
    lua: always("not (old and old.state == STATE.rejected)"),
    because: "the dead letter is lost if the owner of its slot does not accept the task",
  },
  "find-foreign has one page only": {
    breaks: "I7",
    in: "find-foreign",
    lua: change("page[1]", "'0'"),
    because: "a partition is forgotten that knows ids of others, and they are enqueued again",
  },
  "find-foreign overlooks what ended": {
    breaks: "I7",
    lua: never("value == ''"),
    because: "the id of a completed task is enqueued again",
  },
  "head takes the newest task for the first": {
    breaks: "fairness",
    in: "head",
    lua: change("'-1'", "'0'"),
    because: "consumers take from the wrong partition, and old tasks wait",
  },
  "list-work leaves out the first partition": {
    breaks: "fairness",
    in: "list-work",
    lua: change("unpack(names, 2)", "unpack(names, 3)"),
    because: "consumers take the note of one partition for that of another",
  },
  "own-slots takes back what a later map says": {
    breaks: "law 5",
    lua: never("noted_version > tonumber(version)"),
    because: "a late copy gives a slot to two owners, which both add an id",
  },
  "put-map overwrites another caller's map": {
    breaks: "I3",
    lua: change("found == was and found ~= map", "found ~= map"),
    because: "of two changes at once one is undone, halfway",
  },
  "set-idle overwrites a newer note": {
    breaks: "I6",
    lua: change("score and int(score) == _", "score"),
    because: "a task that came meanwhile is not found",
  },
  "rename-keys puts no markers in the place of a queue's own keys": {
    breaks: "I7",
    lua: drop("for _, name in ipairs(unmarked) do … end"),
    because: "callers that do not know of the partitions add ids again under the queue's own keys",
  },
  "shares are written over those of another caller": {
    breaks: "limits",
    in: "put-shares",
    lua: never("found ~= was"),
    because: "two callers both give away the same free share",
  },
  "shares of a newer release are overwritten": {
    breaks: "law 12",
    in: "put-shares",
    lua: never("newer(found)"),
    because: "an old release loses what the new one has written",
  },
  "a late copy of older shares is noted": {
    breaks: "limits",
    lua: never("was.shares and tonumber(was.shares) > tonumber(version)"),
    because: "a partition takes tasks under a share that others have by now",
  },
  "a resize does not notice that the map was lost": {
    breaks: "I7",
    src: never("(await readNotes(queue)).version > map.version"),
    because: "the change gets the version of the lost map, whose owners accept ids of the same slots",
  },
  "a resize forgets who had the slots": {
    breaks: "I7",
    src: change("new Set([...map.former, ...losing])", "map.former"),
    because: "ids that the former owner knows are added again, and its tasks are not found",
  },
  "former owners are not asked": {
    breaks: "I7",
    src: never("map.former.length > 0"),
    because: "an id that the former owner knows is added again",
  },
  "tasks whose slot has moved are dropped": {
    breaks: "law 10",
    src: drop("rest.push(...own);"),
    because: "tasks are lost that a producer enqueues under an old map",
  },
  "consumers take from any partition, not from that with the oldest task": {
    breaks: "fairness",
    src: change("head.oldestAt || _", "0"),
    because: "tasks of a partition wait while newer ones of others are done",
  },
};
