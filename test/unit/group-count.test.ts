import { expect, test } from "vitest";
import { GroupCount } from "../../src/queue/repair/group-count.ts";

const counted = (...members: [id: string, group: string, counted: string][]) => {
  const count = new GroupCount();
  for (const [id, group, as] of members) count.add({ id, group, counted: as });
  return { size: count.size, states: Object.fromEntries(count.states()) };
};

test("counts each group's working tasks and, by priority, its ready ones with their highest tag", () => {
  expect(
    counted(
      ["a", "g", "0=2520"],
      ["b", "g", "0=7560"],
      ["c", "g", "0=5040"],
      ["d", "g", "7=40"],
      ["e", "g", "1"],
      ["f", "h", "1"],
      ["i", "h", "1"],
      ["j", "", "3=9"],
    ),
  ).toEqual({
    size: 8,
    states: { g: "1;w=1;0=7560,3;7=40,1", h: "1;w=2", "": "1;w=0;3=9,1" },
  });
});

test("counts an entry that a scan shows twice once, as it was shown first", () => {
  expect(counted(["a", "g", "0=2520"], ["a", "g", "0=7560"], ["w", "g", "1"], ["w", "g", "1"])).toEqual({
    size: 2,
    states: { g: "1;w=1;0=2520,1" },
  });
});

test("counts a ready task that is leased before the working ones are counted in both places", () => {
  expect(counted(["a", "g", "0=2520"], ["a", "g", "1"])).toEqual({
    size: 2,
    states: { g: "1;w=1;0=2520,1" },
  });
});

test("returns no states if nothing was counted", () => {
  expect(counted()).toEqual({ size: 0, states: {} });
});
