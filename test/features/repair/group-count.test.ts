import { expect, test } from "vitest";
import { GroupCount } from "../../../src/features/repair/group-count.ts";

/** Members are given as `id group counted`. */
test.each<[what: string, members: string[], size: number, states: object]>([
  [
    "each group's working tasks and, by priority, its ready ones with their highest tag",
    ["a g 0=2520", "b g 0=7560", "c g 0=5040", "d g 7=40", "e g 1", "f h 1", "i h 1", "j  3=9"],
    8,
    { g: "1;w=1;0=7560,3;7=40,1", h: "1;w=2", "": "1;w=0;3=9,1" },
  ],
  [
    "an entry that a scan shows twice once, as it was shown first",
    ["a g 0=2520", "a g 0=7560", "w g 1", "w g 1"],
    2,
    { g: "1;w=1;0=2520,1" },
  ],
  [
    "a ready task that is leased before the working ones are counted in both places",
    ["a g 0=2520", "a g 1"],
    2,
    { g: "1;w=1;0=2520,1" },
  ],
  ["nothing without states", [], 0, {}],
])("counts %s", (_, members, size, states) => {
  const count = new GroupCount();
  for (const [id = "", group = "", counted = ""] of members.map((member) => member.split(" ")))
    count.add({ id, group, counted });
  expect([count.size, Object.fromEntries(count.states())]).toEqual([size, states]);
});
