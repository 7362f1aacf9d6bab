import { expect, test } from "vitest";
import type { Fetch } from "../../src/client/index.ts";
import { drain } from "../../src/index.ts";
import { encrypting, KEYS, MARKER, shows } from "../support/encrypting.ts";
import { useServer } from "./rig.ts";

const server = useServer();
const encryption = encrypting();
const payload = { to: `${MARKER}@example.com` };

/** A client's queue, and the text of all its requests and their answers. */
function overheard(options: object = { encryption }) {
  const wire: string[] = [];
  const fetch: Fetch = async (input, init) => {
    const { method, headers, body } = init ?? {};
    wire.push(JSON.stringify([input, method, [...new Headers(headers)], body]));
    const response = await globalThis.fetch(input, init);
    const text = await response.clone().text();
    wire.push(JSON.stringify([...response.headers]), text);
    return response;
  };
  return { wire, queue: server.client({ fetch }).queue("emails", options) };
}

test("neither the server nor the wire sees any value of a task in its whole life", async () => {
  const { wire, queue } = overheard();
  await queue.enqueue(payload, { id: "a" });
  await queue.enqueueMany(["b", "c"].map((id) => ({ payload, id })));
  const tasks = await queue.dequeue({ max: 3 });
  expect(tasks.map((task) => task.payload)).toEqual([payload, payload, payload]);
  await tasks[0]?.extend("1m", { progress: MARKER });
  expect(await queue.get("a")).toMatchObject({ progress: MARKER });
  await tasks[0]?.complete({ sent: MARKER });
  await tasks[1]?.reject(new Error(MARKER));
  const settlements = [{ receipt: tasks[2]?.receipt ?? "", outcome: "requeue", error: MARKER }] as const;
  const again = await queue.settleAndDequeue(settlements, {});
  expect(again.tasks[0]?.payload).toEqual(payload);
  expect(await queue.get("a")).toMatchObject({ state: "completed", result: { sent: MARKER } });
  expect(await queue.wait("b")).toMatchObject({ error: { name: "Error", message: MARKER } });
  const failed = await queue.get("c");
  expect(failed).toMatchObject({ state: "working", error: MARKER });
  expect(failed?.errors.map(({ error }) => error)).toEqual([MARKER]);
  expect(wire.length).toBeGreaterThan(27);
  expect(wire.filter(shows)).toEqual([]);
  expect(shows(await server.redis("HGETALL", "sluice:{emails}:tasks"))).toBe(false);
  // Without encryption they would be seen.
  const open = overheard({});
  await open.queue.enqueue(payload);
  expect(open.wire.some(shows)).toBe(true);
});

test("of a long error that a client has encrypted, the errors of attempts have only its length", async () => {
  const { wire, queue } = overheard();
  await queue.enqueue(payload, { id: "a", maxAttempts: 0 });
  for (const length of [100, 700, 4_000]) {
    await (await queue.dequeue())[0]?.requeue({ error: new Error(MARKER.repeat(length / MARKER.length)) });
  }
  const task = await queue.get("a");
  const text = `Error: ${MARKER.repeat(200)}`.slice(0, 199);
  expect(task?.errors.map(({ error }) => error)).toEqual([
    `Error: ${MARKER.repeat(100 / MARKER.length)}`,
    `${text}…`,
    expect.stringMatching(/^4\d\d\d bytes$/),
  ]);
  expect(wire.filter(shows)).toEqual([]);
  const listed = await server.operator("emails").list({ state: "pending" });
  expect(listed.tasks).toMatchObject([{ id: "a", errors: [], undecryptable: expect.anything() as unknown }]);
});

test("a queue on Redis and a client's queue read each other's values", async () => {
  const direct = server.direct("emails", { encryption });
  const client = server.client().queue("emails", { encryption });
  for (const [from, to, options] of [
    [direct, client, {}],
    [client, direct, {}],
    [client, direct, { idempotencyKey: "k" }],
  ] as const) {
    const { id } = await from.enqueue(payload, options);
    const [task] = await to.dequeue();
    expect(task?.payload).toEqual(payload);
    await task?.extend("1m", { progress: { at: 1 } });
    expect(await from.get(id)).toMatchObject({ progress: { at: 1 } });
    await task?.complete(MARKER);
    expect(await from.get(id)).toMatchObject({ result: MARKER });
  }
});

test("a call repeated with its idempotency key is the same call", async () => {
  const queue = server.client().queue("emails", { encryption });
  const options = { idempotencyKey: "k" };
  const first = await queue.enqueueMany([{ payload: 1 }, { payload: 2 }], options);
  expect(await queue.enqueueMany([{ payload: 1 }, { payload: 2 }], options)).toEqual(first);
  expect(first.map(({ created }) => created)).toEqual([true, true]);
  expect((await queue.dequeue({ max: 5 })).map((task) => task.payload)).toEqual([1, 2]);
});

test("a consumer without the key sets tasks aside, says why, and works on", async () => {
  const keys = { old: KEYS.old, new: KEYS.new };
  const rotated = server.client().queue("emails", { encryption: encrypting({ keys, current: "new" }) });
  const queue = server.client().queue("emails", { encryption });
  await rotated.enqueue(payload, { id: "a" });
  await queue.enqueue(payload, { id: "b" });
  const handled: string[] = [];
  const report = await drain(queue, ({ id }) => void handled.push(id), { batch: 10 });
  expect([report, handled]).toMatchObject([{ completed: 1, ended: "empty" }, ["b"]]);
  const letter = await server.client().queue("emails").get("a");
  const message = 'it is encrypted with the key "new", which is not among the keys given';
  const error = { message: `the payload cannot be decrypted: ${message}` };
  expect(letter).toMatchObject({ state: "rejected", error });
  await expect(server.client().queue("emails").get("b")).resolves.toMatchObject({ state: "completed" });
  expect(await rotated.get("a")).toEqual(letter);
});

test("a server that swaps receipts, ids or payloads gets nothing decrypted, and no result under another id", async () => {
  for (const part of ["id", "receipt", "payload"]) {
    const fetch: Fetch = async (input, init) => {
      const response = await globalThis.fetch(input, init);
      const reply = (await response.json()) as { tasks?: Record<string, unknown>[] };
      const [a, b] = reply.tasks ?? [];
      if (input.endsWith("/pull") && a && b) [a[part], b[part]] = [b[part], a[part]];
      return Response.json(reply, response);
    };
    const queue = server.client({ fetch }).queue(part, { encryption });
    await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
    const tasks = await queue.dequeue({ max: 2 });
    // An id sent beside a receipt is ignored.
    const read = part === "id" ? ["a", "b"].map((id) => ({ id, payload: id })) : [];
    expect(tasks.map(({ id, payload: got }) => ({ id, payload: got }))).toEqual(read);
  }
});

test("a client without encryption is refused encrypted values, with the reason", async () => {
  const queue = server.client().queue("emails", { encryption });
  await queue.enqueue(payload, { id: "a" });
  const [task] = await queue.dequeue();
  await task?.complete(MARKER);
  const message = 'it is encrypted with the key "old", and this queue has no encryption';
  const refused = { code: "undecryptable", message: `the result cannot be decrypted: ${message}` };
  await expect(server.client().queue("emails").get("a")).rejects.toMatchObject(refused);
});

test("over HTTP an operator sees values as bytes, and all other fields", async () => {
  await server.client().queue("emails", { encryption }).enqueue(payload, { id: "a", group: "g" });
  const headers = { authorization: "Bearer all-0123456789abcdef" };
  const url = `${server.way().url}/v1/queues/emails/tasks?state=pending&payloads=true`;
  const { tasks } = (await (await fetch(url, { headers })).json()) as { tasks: unknown[] };
  const envelope = expect.stringMatching(/^AFNMVUlDRQFw/) as string;
  expect(tasks).toMatchObject([{ id: "a", group: "g", payload: envelope, payloadEncoding: "base64" }]);
});
