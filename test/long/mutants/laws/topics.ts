import { change, type LawMutants, never } from "../mutant.ts";

export const topics: LawMutants = {
  "a deployment replaces a subscription that an operator has made": {
    in: "put-subscriptions",
    lua: change("string.sub(current, 3, 3) ~= 'o'", "true"),
    breaks: "I3: what an operator has set is gone",
  },
  "a declaration of subscriptions overwrites one that was applied meanwhile": {
    in: "put-subscriptions",
    lua: never("queue ~= '' and applied ~= was and applied ~= declared"),
    breaks: "I3: two deployments apply their declarations in turn",
  },
  "a change of subscriptions is reported to no publisher": {
    in: "put-subscriptions",
    lua: never("changes > 0"),
    breaks: "law 10: a publisher with an old list leaves out a queue",
  },
  "a page of what a topic retains has all of it": {
    in: "read-topic",
    lua: change("ended = #reply > 4 and bytes > tonumber(max_bytes)", "ended = false"),
    breaks: "law 7: a reply has any number of bytes",
  },
  "a page of what a topic retains begins with that of its instant": {
    in: "read-topic",
    lua: change("reply[#reply + 1], place = entry.id, entry.place", "reply[#reply + 1] = entry.id"),
    breaks: "law 7: a replay reads the same messages for ever",
  },
  "what a topic retains is not bounded in bytes": {
    in: "trim-topic",
    lua: change("bytes <= tonumber(most)", "true"),
    breaks: "law 10: the bound of the topic does not hold",
  },
};
