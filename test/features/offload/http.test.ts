import { operations } from "../../../src/http/operations/index.ts";
import { describe, expect, test } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { createApp } from "../../../src/http/index.ts";
import type { Offload } from "../../../src/features/offload/types.ts";
import { QUEUE, key, useRig } from "../../support/rig.ts";
import { large, offloading, testStore } from "./rig.ts";

const rig = useRig();
const token = "t".repeat(32);

const setUp = (options: Parameters<typeof offloading>[1] = {}) => {
  const store = testStore(Date.now());
  const offload = offloading(store, options);
  const serve = (given: Offload | undefined) => {
    const app = createApp({
      operations,
      transport: rig.transport,
      tokens: [{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }],
      offload: given,
      onError: () => {},
    });
    const fetch = async (url: string, init: RequestInit) => app.fetch(new Request(url, init));
    const client = createClient({ url: "http://sluice.test", token, fetch });
    const call = async (method: string, path: string, body?: unknown) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await app.fetch(new Request(`http://sluice.test${path}`, init));
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    return { client, call };
  };
  return { store, offload, serve, ...serve(offload) };
};

const path = `/v1/queues/${QUEUE}/tasks`;

describe("over HTTP callers send and get whole payloads", () => {
  test("in enqueue, get, list, pull and settle; the server removes the object", async () => {
    const { store, call } = setUp();
    const bytes = Buffer.alloc(200, 7).toString("base64");
    expect(
      await call("POST", path, {
        tasks: [
          { payload: large("a"), id: "a" },
          { payload: bytes, encoding: "base64", id: "b" },
        ],
      }),
    ).toMatchObject({ status: 201 });
    expect(await store.keys()).toHaveLength(2);
    expect(await call("GET", `${path}/a?payload=true`)).toMatchObject({
      status: 200,
      body: { payload: large("a") },
    });
    const listed = await call("GET", `${path}?state=pending&payloads=true`);
    expect(listed.body["tasks"]).toMatchObject([
      { payload: large("a") },
      { payload: bytes, payloadEncoding: "base64" },
    ]);
    const pulled = await call("POST", `${path}/pull`, { max: 10 });
    const tasks = pulled.body["tasks"] as { receipt: string }[];
    expect(tasks).toMatchObject([{ payload: large("a") }, { payload: bytes, encoding: "base64" }]);
    const settlements = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" }));
    const settled = await call("POST", `${path}/settle`, { settlements });
    expect(settled.body["results"]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await store.keys()).toEqual([]);
  });

  test("the limit is that of the server's offload; without one it is 1 MiB", async () => {
    const { client, serve } = setUp({ maxBytes: 2_000_000 });
    const payload = "x".repeat(1_999_998);
    await client.queue(QUEUE).enqueue(payload);
    for (const [one, limit] of [
      [client, 2_000_000],
      [serve(undefined).client, 1_048_576],
    ] as const) {
      await expect(one.queue(QUEUE).enqueue(`${payload}x`)).rejects.toMatchObject({
        code: "too_large",
        message: expect.stringContaining(`at most ${limit} are allowed`) as string,
      });
    }
  });

  test("an enqueue that is a forged reference is refused", async () => {
    const { call } = setUp();
    await call("POST", path, { payload: large("a"), id: "a" });
    const record = (await rig.space()).tasks.get("a") ?? "";
    const reference = record.slice(record.indexOf("\nb") + 2);
    expect(await call("POST", path, { payload: reference, encoding: "base64", id: "a2" })).toMatchObject({
      status: 400,
      body: { code: "invalid_request", errors: [{ path: "payload" }] },
    });
  });

  test("the sweep removes orphans, and reports them", async () => {
    const { store, call } = setUp();
    await call("POST", path, { payload: large("a"), id: "a" });
    store.now -= 7_200_000;
    await call("POST", path, { payload: large("b"), id: "b" });
    await rig.command("HDEL", key("tasks"), "b");
    await rig.command("LREM", key("pending"), "0", "b");
    expect(await call("POST", "/v1/sweep", {})).toMatchObject({
      status: 200,
      body: { objects: { checked: 2, removed: 1 } },
    });
    expect(await store.keys()).toEqual([expect.stringContaining("/a/")]);
  });
});
