import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redrive } from "../../src/http/request-schemas/task-operation.ts";
import { newTask, newTasks, settle } from "../../src/http/request-schemas/tasks.ts";
import { expectProblem, serve } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

describe("the content of a body", () => {
  const enqueue = (raw: string) => served.ask("POST", "/v1/queues/inside/tasks", { raw });

  it("a list that is too long is reported by its name and bound, however long it is", async () => {
    const many = (one: string, size: number) => Array.from({ length: size }, () => one).join(",");
    const post = (path: string, raw: string) => served.ask("POST", `/v1/queues/inside/${path}`, { raw });
    const bounds = [
      ["tasks", `{"tasks":[${many('{"payload":1}', 100_000)}]}`, /^tasks must have at most \d+ tasks\.$/],
      // Each item is a fault of its own: a report of all would take gigabytes.
      ["tasks", `{"tasks":[${many("0", 4_900_000)}]}`, /^tasks must have at most \d+ tasks\.$/],
      ["tasks", `{"tasks":[${many("0", 1_000)}]}`, /^tasks\[0\] .* and 97 more\.$/],
      [
        "tasks/settle",
        `{"settlements":[${many('{"receipt":"1.1.1.abcdefgh.a","outcome":"complete"}', 20_000)}]}`,
        /^settlements must have at most \d+ settlements\.$/,
      ],
    ] as const;
    for (const [path, raw, detail] of bounds) {
      expect(expectProblem(await post(path, raw), "invalid_request").detail).toMatch(detail);
    }
  });

  it.each([
    ["tasks", newTasks, 1_001],
    ["settlements", settle, 1_001],
    ["ids", redrive, 1_001],
  ] as const)("none of too many %s is looked at", (name, schema, size) => {
    const looked: string[] = [];
    const items = new Proxy(Array.from({ length: size }), {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) looked.push(key);
        return Reflect.get(target, key, target) as unknown;
      },
    });
    const { issues = [] } = v.safeParse(schema, { [name]: items }, { abortPipeEarly: true });
    expect([issues.map(({ message }) => message), looked]).toEqual([
      [expect.stringMatching(/^must have at most 1000 /)],
      [],
    ]);
  });

  it("no more faults of it are kept than are reported", () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 1]));
    const wrong = Array.from({ length: 1_000 }, () => ({ ...unknown, payload: 1 }));
    for (const [schema, body] of [
      [newTasks, { tasks: wrong }],
      [settle, { settlements: wrong }],
      [redrive, { ids: wrong }],
      [newTask, unknown],
      [newTask, { payload: 1, headers: unknown }],
    ] as const) {
      const { issues = [] } = v.safeParse(schema, body);
      expect(issues.length).toBeGreaterThan(0);
      expect(issues.length).toBeLessThan(300);
    }
  });

  it("of names that occur twice the last counts, as with JSON.parse", async () => {
    const { body } = await enqueue('{"id":"first","payload":1,"id":"second","payload":2}');
    expect(body.id).toBe("second");
    expect((await served.ask("GET", "/v1/queues/inside/tasks/first")).status).toBe(404);
    const listed = await served.ask("GET", "/v1/queues/inside/tasks?state=pending&payloads=true");
    expect(listed.body.tasks.map(({ payload }: { payload: unknown }) => payload)).toEqual([2]);
  });

  it("depth, long numbers and lone surrogates come back as JavaScript reads them", async () => {
    for (const [id, payload, back] of [
      ["deep", `${"[".repeat(999)}${"]".repeat(999)}`, `${"[".repeat(999)}${"]".repeat(999)}`],
      ["long", "9007199254740993", "9007199254740992"],
      ["minus", "-0", "0"],
      ["half", String.raw`"\ud800"`, String.raw`"\ud800"`],
      ["nul", String.raw`"\u0000"`, String.raw`"\u0000"`],
    ] as const) {
      expect([id, (await enqueue(`{"id":"${id}","payload":${payload}}`)).status]).toEqual([id, 201]);
      const { tasks: listed } = (
        await served.ask("POST", "/v1/queues/inside/tasks/pull", { json: { max: 100 } })
      ).body;
      const [task] = listed.filter((one: { id: string }) => one.id === id);
      expect([id, JSON.stringify(task.payload)]).toEqual([id, back]);
    }
  });
});
