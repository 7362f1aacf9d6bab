import { describe, expect, test } from "vitest";
import type { FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";
import { begun } from "./begun-flow.ts";

const task = (ref: string, after?: FlowItem<string>["after"]): FlowItem<string> => ({
  ref,
  queue: "q",
  payload: {},
  after,
});

const onEnd = (ref: string) => ({ ref, on: "ended" }) as const;

describe("a task waits for what is in front of it", () => {
  test("it is released by the last of them", () => {
    const { simulation, find, states } = begun([
      task("mail", ["rows", onEnd("audit")]),
      task("rows"),
      task("audit"),
    ]);
    expect(states()).toEqual({ rows: "ready", audit: "ready", mail: "blocked" });
    expect(simulation.end(find("audit"), "rejected").released).toEqual([]);
    expect(simulation.end(find("rows"), "completed").released).toEqual([find("mail")]);
    expect(states()).toEqual({ rows: "completed", audit: "rejected: rejected", mail: "ready" });
  });

  test("it is rejected as soon as one of them does not complete, and so on down; the end of a rejected one counts as an end", () => {
    const { simulation, find, states } = begun([
      task("fetch"),
      task("slow"),
      task("rows", ["fetch", "slow"]),
      task("mail", "rows"),
      task("clean", onEnd("mail")),
    ]);
    const { fallen, released } = simulation.end(find("fetch"), "rejected");
    expect({ fallen, released }).toEqual({ fallen: [find("rows"), find("mail")], released: [find("clean")] });
    expect(states()).toEqual({
      fetch: "rejected: rejected",
      slow: "ready",
      rows: "rejected: dependency_failed",
      mail: "rejected: dependency_failed",
      clean: "ready",
    });
    expect(simulation.failedBefore(find("rows"))).toBe(find("fetch"));
    expect(simulation.failedBefore(find("mail"))).toBe(find("rows"));
  });

  test("a task that begins and is put back is ready as before; one that is blocked does not begin", () => {
    const { simulation, find, states } = begun([task("fetch"), task("rows", "fetch")]);
    for (const ref of ["fetch", "rows"]) simulation.begin(find(ref));
    expect(states()).toEqual({ fetch: "working", rows: "blocked" });
    expect(Object.values(simulation.putBack(find("fetch"))).flat()).toEqual([]);
    expect(states()).toEqual({ fetch: "ready", rows: "blocked" });
  });
});

describe("an inner flow", () => {
  const items = [
    task("fetch"),
    { ref: "audit", after: "fetch", flow: [task("rows"), task("sums", "rows"), task("names")] },
    task("mail", "audit"),
    task("clean", onEnd("audit")),
  ];

  test("begins with its first tasks, and ends with its last", () => {
    const { simulation, find, states, stateOf } = begun(items);
    simulation.end(find("fetch"), "completed");
    expect(states()).toMatchObject({
      "audit/rows": "ready",
      "audit/names": "ready",
      "audit/sums": "blocked",
    });
    simulation.end(find("audit/rows"), "completed");
    simulation.end(find("audit/sums"), "completed");
    expect(stateOf(find("audit", "join"))).toBe("blocked");
    expect(simulation.end(find("audit/names"), "completed").released).toEqual([find("mail"), find("clean")]);
    expect(stateOf(find("audit", "join"))).toBe("completed");
  });

  test("has not completed if one of its tasks has not; what waits for it names that task", () => {
    const { simulation, find, states } = begun(items);
    simulation.end(find("fetch"), "completed");
    simulation.end(find("audit/rows"), "rejected");
    expect(states()).toMatchObject({
      "audit/sums": "rejected: dependency_failed",
      mail: "blocked",
      clean: "blocked",
    });
    simulation.end(find("audit/names"), "completed");
    expect(states()).toMatchObject({ mail: "rejected: dependency_failed", clean: "ready" });
    expect(simulation.failedBefore(find("mail"))).toBe(find("audit/rows"));
  });

  test("falls whole if it may not begin, also what waits in it only for an end", () => {
    const { simulation, find, states } = begun([
      task("fetch"),
      { ref: "audit", after: "fetch", flow: [task("rows"), task("sums", onEnd("rows"))] },
      task("mail", onEnd("audit")),
    ]);
    simulation.end(find("fetch"), "rejected");
    expect(states()).toEqual({
      fetch: "rejected: rejected",
      "audit/rows": "rejected: dependency_failed",
      "audit/sums": "rejected: dependency_failed",
      mail: "ready",
    });
  });

  test("without tasks passes on what it waits for", () => {
    const { simulation, find, states, stateOf } = begun([
      { ref: "nothing", flow: [] },
      task("fetch", "nothing"),
      { ref: "later", after: "fetch", flow: [] },
      task("mail", "later"),
    ]);
    expect(states()).toEqual({ fetch: "ready", mail: "blocked" });
    expect(simulation.end(find("fetch"), "rejected").fallen).toContain(find("mail"));
    expect(stateOf(find("later", "join"))).toBe("rejected: dependency_failed");
    expect(simulation.failedBefore(find("mail"))).toBe(find("fetch"));
  });
});

describe("a redrive", () => {
  test("blocks again what fell with the task, except what another one made fall too", () => {
    const { simulation, find, states } = begun([
      task("one"),
      task("two"),
      task("both", ["one", "two"]),
      task("mine", "one"),
      task("mail", "mine"),
    ]);
    simulation.end(find("one"), "rejected");
    simulation.end(find("two"), "rejected");
    expect(simulation.redrive(find("one")).blocked).toEqual([find("mine"), find("mail")]);
    expect(states()).toEqual({
      one: "ready",
      two: "rejected: rejected",
      both: "rejected: dependency_failed",
      mine: "blocked",
      mail: "blocked",
    });
    expect(simulation.failedBefore(find("both"))).toBe(find("two"));
    expect(simulation.redrive(find("two")).blocked).toEqual([find("both")]);
    for (const ref of ["one", "two", "both", "mine", "mail"]) simulation.end(find(ref), "completed");
    expect(new Set(Object.values(states()))).toEqual(new Set(["completed"]));
  });

  test("lets a blocked task wait for the end of the task again, and leaves alone what was released", () => {
    const { simulation, find, states } = begun([
      task("fetch"),
      task("slow"),
      task("log", onEnd("fetch")),
      task("clean", [onEnd("fetch"), "slow"]),
    ]);
    simulation.end(find("fetch"), "rejected");
    simulation.redrive(find("fetch"));
    simulation.end(find("slow"), "completed");
    expect(states()).toEqual({ fetch: "ready", slow: "completed", log: "ready", clean: "blocked" });
    expect(simulation.end(find("fetch"), "completed").released).toEqual([find("clean")]);
  });

  test("changes nothing of a task that was not rejected on its own", () => {
    const { simulation, find, states } = begun([task("fetch"), task("rows", "fetch"), task("audit")]);
    simulation.end(find("fetch"), "rejected");
    simulation.cancel(find("audit"));
    const before = states();
    for (const ref of ["rows", "audit"]) {
      expect(Object.values(simulation.redrive(find(ref))).flat()).toEqual([]);
    }
    expect(states()).toEqual(before);
  });
});

describe("a cancel", () => {
  const items = [task("fetch"), task("slow"), task("rows", "fetch"), task("clean", [onEnd("rows"), "slow"])];

  test("of a task lets what waits for it fall; one that is working stops at its end, unless it completes", () => {
    const { simulation, find, states } = begun(items);
    simulation.begin(find("fetch"));
    simulation.begin(find("slow"));
    expect(simulation.cancel(find("fetch")).flagged).toEqual([find("fetch")]);
    expect(simulation.cancel(find("slow")).flagged).toEqual([find("slow")]);
    expect(states()).toMatchObject({ fetch: "working", rows: "blocked" });
    expect(simulation.putBack(find("fetch"))).toMatchObject({
      cancelled: [find("fetch")],
      fallen: [find("rows")],
    });
    simulation.end(find("slow"), "completed");
    expect(states()).toEqual({
      fetch: "rejected: cancelled",
      slow: "completed",
      rows: "rejected: dependency_failed",
      clean: "ready",
    });
  });

  test("of all ends each task as cancelled", () => {
    const { simulation, states } = begun(items);
    const { cancelled, fallen, released } = simulation.cancelAll();
    expect({ cancelled, fallen, released }).toEqual({ cancelled: [0, 1, 2, 3], fallen: [], released: [] });
    expect(new Set(Object.values(states()))).toEqual(new Set(["rejected: cancelled"]));
    expect(simulation.hasEnded).toBe(true);
  });

  test("follows a failure if the flow says so, after what waits for the task has fallen", () => {
    const { simulation, find, states } = begun(items, { onFailure: "cancel" });
    simulation.begin(find("slow"));
    const { cancelled, fallen, flagged, released } = simulation.end(find("fetch"), "rejected");
    expect({ cancelled, fallen, flagged, released }).toEqual({
      cancelled: [find("clean")],
      fallen: [find("rows")],
      flagged: [find("slow")],
      released: [],
    });
    simulation.end(find("slow"), "rejected");
    expect(states()).toMatchObject({ slow: "rejected: cancelled", clean: "rejected: cancelled" });
  });
});
