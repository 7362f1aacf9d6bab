import { describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { startGateway } from "../../src/local/index.ts";
import { queueKeys } from "../../src/queue/core/keys.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { asker, servedQueue, tokens } from "./served.ts";

const { ask, queue, path, command, lose, enqueue, pull } = servedQueue();

describe("GET /v1/diagnostics", () => {
  it("has what Redis reports of itself", async () => {
    const { status, body } = await ask("GET", "/v1/diagnostics");
    const numbers = { now: expect.any(Number), roundTrip: expect.any(Number) };
    const memory = { usedMemory: expect.any(Number), maxMemory: expect.any(Number) };
    const version = expect.stringMatching(/^\d+\.\d+/);
    const policies = { evictionPolicy: "noeviction", appendOnly: expect.any(Boolean) };
    expect([status, body]).toEqual([200, { ...numbers, version, ...memory, ...policies }]);
    expect(Math.abs(body.now - Date.now())).toBeLessThan(60_000);
  });

  it("shows what concerns all of the database only to operators of all queues", async () => {
    const { body } = await ask("GET", "/v1/diagnostics", { as: "mails" });
    expect(body).toMatchObject({ roundTrip: expect.any(Number), version: null, maxMemory: null });
  });

  it("has null for what the store does not report", async () => {
    const gateway = await startGateway();
    try {
      const app = createApp({ transport: upstash(gateway), tokens });
      const { body } = await asker((request) => app.fetch(request))("GET", "/v1/diagnostics");
      expect(body).toMatchObject({ evictionPolicy: null, usedMemory: null, appendOnly: null });
    } finally {
      await gateway.close();
    }
  });
});

describe("GET /v1/queues/:queue/diagnostics", () => {
  it("has sizes, and says that all entries are valid, also of a queue that does not exist", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    await pull();
    const { fields, bytes, ...rest } = (await ask("GET", `${path()}/diagnostics`)).body;
    expect(rest).toEqual({ queue: queue(), valid: true, entries: expect.any(Number) });
    expect([fields > 2, bytes > 100]).toEqual([true, true]);
    const none = { queue: "nothing-here", fields: 0, bytes: 0, valid: true, entries: 0 };
    expect((await ask("GET", "/v1/queues/nothing-here/diagnostics")).body).toEqual(none);
  });

  it("says that a queue with a fault is not valid, and changes nothing", async () => {
    await enqueue({ id: "lost", payload: 1 });
    await lose("lost");
    expect((await ask("GET", `${path()}/diagnostics`)).body).toMatchObject({ valid: false, entries: 0 });
    expect(await command("LLEN", queueKeys(queue()).pending)).toEqual([{ reply: 0 }]);
    // The invariants hold again.
    await ask("POST", "/v1/sweep", { json: { deep: true, queue: queue() } });
  });
});
