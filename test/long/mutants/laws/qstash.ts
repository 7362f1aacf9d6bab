import { change, type LawMutants, never } from "../mutant.ts";

export const qstash: LawMutants = {
  "the limits of a key whose messages wait are forgotten": {
    in: "forget-limits",
    lua: change("group.working + group.ready + group.limited == 0 and not spent", "not spent"),
    breaks: "I3: what a message has set is gone before it is delivered",
  },
  "the limits of a key whose message is late are forgotten": {
    in: "forget-limits",
    lua: never("#late > 0"),
    breaks: "I3: what a message has set is gone before it is delivered",
  },
};
