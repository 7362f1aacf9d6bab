// Flows of Python's over the HTTP interface of an app.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { FaultyWay } from "../../client/rig.ts";
import type { TokenEntry } from "../../../src/http/auth/tokens.ts";
import { flows } from "../../../src/http/flows/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { flowRoutes } from "../../../src/http/routes/flows.ts";
import { Operator, Queue } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { order } from "../../../src/open/order/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const both = useBothClients(useRig());
const token = "python-0123456789abcdef";
const scopes: TokenEntry["scopes"] = ["enqueue", "consume", "admin"];
let app: ReturnType<typeof createApp>;
const way = new FaultyWay((request) => app.fetch(request));
beforeAll(() => way.open());
afterAll(() => way.close());
beforeEach(() => {
  way.clear();
  app = createApp({
    transport: both.transport,
    tokens: ["a", "b", QUEUE].map((queues) => ({ token, scopes, queues })),
    flows: { ...flows, routes: flowRoutes },
    order,
    onError: () => {},
  });
});

/** Runs code with `flows`, and `pull` and `settle` as the README has them. */
const python = (code: string) =>
  both.python(
    `
from flows import Flows
flows = Flows("${way.url}", "${token}")
pull = lambda queue: flows.deployment.post(f"/v1/queues/{queue}/tasks/pull", {"max": 10})["tasks"]
def settle(queue, *settlements):
    body = {"settlements": settlements}
    return [each["ok"] for each in flows.deployment.post(f"/v1/queues/{queue}/tasks/settle", body)["results"]]
${code.replaceAll(/^ {4}/gm, "")}`,
  );

test("adds a flow, and sends it again with the same key when the answer is lost", async () => {
  way.faults = ["lost reply", "half JSON", { status: 502 }];
  const [added, again] = await python(`
    tasks = [
        {"ref": "mail", "queue": "b", "payload": b"\\x00\\xff", "after": {"ref": "rows", "on": "ended"}},
        {"ref": "rows", "flow": [{"ref": "1", "queue": "b", "payload": "ü", "max_attempts": 1}], "after": ["fetch"]},
        {"ref": "fetch", "queue": "a", "payload": {"n": 1}, "headers": {"trace": "1"}},
    ]
    report([flows.flow(tasks, id="nightly", key="today"), flows.flow(tasks, id="nightly", key="today")])
  `);
  const tasks = { fetch: "0{nightly@a}", mail: expect.any(String), "rows/1": expect.any(String) };
  expect(added).toEqual({ id: "nightly@a", created: true, tasks });
  expect(again).toEqual(added);
  expect(way.copies.map(({ headers }) => headers.get("idempotency-key"))).toEqual(Array(5).fill("today"));
  const [fetch, rejected, mail] = await python(`
    [fetch] = pull("a")
    settle("a", {"receipt": fetch["receipt"], "outcome": "complete", "result": "AP8=", "encoding": "base64"})
    [row] = pull("b")
    found = flows.before("b", row["id"])["fetch"]
    settle("b", {"receipt": row["receipt"], "outcome": "reject", "error": "no"})
    report([[fetch["payload"], list(found["result"])], row["payload"], pull("b")[0]["payload"]])
  `);
  expect([fetch, rejected, mail]).toEqual([[{ n: 1 }, [0, 255]], "ü", "AP8="]);
});

test("a new call has a key of its own", async () => {
  const ids = await python(`
    tasks = [{"ref": "one", "queue": "a", "payload": None}]
    report([flows.flow(tasks)["id"] for _ in range(2)])
  `);
  expect(new Set(ids).size).toBe(2);
});

test("adds a batch, and tasks in front of what follows it; reports, redrives and cancels", async () => {
  const answers = await python(`
    two = [{"queue": "a", "payload": 1}, {"queue": "a", "payload": 2}]
    batch = flows.batch(two, completed={"queue": "b", "payload": 3}, ended={"queue": "b", "payload": 4}, id="batch")
    first, second = pull("a")
    more = [{"ref": "more", "queue": "a", "payload": 5}]
    before = flows.add_before("a", first["id"], first["receipt"], "completed", more)
    settled = settle("a", {"receipt": first["receipt"], "outcome": "complete"}, {"receipt": second["receipt"], "outcome": "reject"})
    report([
        list(batch["tasks"]), before, settled, flows.get("batch@a")["counts"], flows.redrive("batch@a"),
        flows.cancel("batch@a"), flows.get("batch@a")["isCancelled"], flows.get("none@a"), flows.cancel("none@a"),
        list(flows.batch(two)["tasks"]),
    ])
  `);
  expect(answers).toEqual([
    ["1", "2", "completed", "ended"],
    { created: true, tasks: { more: expect.any(String) } },
    [true, true],
    // What is in other queues follows after the answer.
    expect.objectContaining({ completed: 1 }),
    { id: "batch@a", redriven: 1 },
    { id: "batch@a", cancelled: 4, flagged: 0 },
    true,
    null,
    null,
    ["1", "2"],
  ]);
});

test("a refusal is an error with the code of the problem, and is not sent again", async () => {
  const codes = await python(`
    codes = []
    one = [{"ref": "a", "queue": "a", "payload": 1}]
    for call in (
        lambda: flows.flow([{"ref": "a", "queue": "a", "payload": 1, "after": "none"}]),
        lambda: flows.flow([{"ref": "a", "queue": "foreign", "payload": 1}]),
        lambda: Flows("${way.url}", "wrong").get("a@a"),
        lambda: flows.flow(one, key="k") and flows.flow([{**one[0], "payload": 2}], key="k"),
        lambda: flows.add_before("a", "0{a@a}", "1.1.1.AAAAAAAAAAAAAAAA.0{a@a}", "a", one),
    ):
        try: codes.append(call())
        except SluiceError as error: codes.append(error.code)
    report(codes)
  `);
  expect(codes).toEqual([
    "invalid_request",
    "forbidden",
    "unauthorized",
    "idempotency_key_reused",
    "lease_lost",
  ]);
  expect(way.copies.length).toBe(6);
  way.faults = [{ status: 302, headers: { location: "/" } }, ...Array(4).fill("reset")];
  const lost = await python(`
    codes = []
    for _ in range(2):
        try: flows.get("a@a")
        except SluiceError as error: codes.append(error.code)
    report(codes)
  `);
  expect(lost).toEqual(["http_error", "no_answer"]);
});

test("a consumer on Redis leaves tasks of flows alone, with newer_schema", async () => {
  const codes = await python(`
    def code(call):
        try: return call()
        except SluiceError as error: return error.code
    queue.enqueue("plain", id="plain")
    id = flows.flow([{"ref": "one", "queue": "${QUEUE}", "payload": 1}])["tasks"]["one"]
    report([[task.id for task in queue.dequeue(max=9)], code(queue.dequeue), code(lambda: queue.get(id)), sweep(redis)])
  `);
  expect(codes).toEqual([["plain"], "newer_schema", "newer_schema", { [QUEUE]: [0, 0, 0, 0] }]);
});

test("a consumer on Redis leaves a queue in strict order alone, also tasks that it holds", async () => {
  const transport = linked(both.transport);
  await both.queue.enqueueMany(["a", "b"].map((id) => ({ payload: id, id, group: "g" })));
  const receipt = await both.python("queue.dequeue(lease=1)[0].receipt");
  await new Operator(QUEUE, { transport }).configure({ order: "strict" });
  const answers = await both.python(`
    def code(call):
        try: return call()
        except SluiceError as error: return error.code
    calls = (
        lambda: queue.enqueue(1, group="g"), queue.dequeue, lambda: queue.cancel("b"),
        lambda: queue.settle([Settlement("${receipt}", "complete")]), lambda: sweep(redis),
    )
    report([code(call) for call in calls])
  `);
  expect(answers).toEqual([...Array(4).fill("newer_schema"), { [QUEUE]: [0, 0, 0, 0] }]);
  const tasks = await new Queue(QUEUE, { transport }).dequeue({ max: 2 });
  expect(tasks.map(({ id }) => id)).toEqual(["a"]);
});
