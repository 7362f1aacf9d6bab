import { afterAll, beforeAll, expect, it } from "vitest";
import { Queue } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { encrypting, KEYS, MARKER, shows } from "../support/encrypting.ts";
import { readKeySpace } from "../support/key-space.ts";
import { awkwardPayloads, comparable } from "../support/payloads.ts";
import { openPlace, type Deployed } from "./place.ts";

/** The test of a runtime with a cryptography of its own; deploys `encrypting-deployment.ts`. */
export function sharesEncryptionWithNode(
  deploy: (env: Readonly<Record<string, string>>) => Promise<Deployed>,
): void {
  let place: Awaited<ReturnType<typeof openPlace>>;
  let transport: ReturnType<typeof resp>;
  beforeAll(async () => {
    place = await openPlace();
    transport = resp(place.redis.url);
  });
  afterAll(async () => {
    await transport?.close();
    await place?.close();
  });

  it("it and Node read what the other has encrypted, and no other queue does", async () => {
    const deployed = await deploy({ ...place.env, NOTES_KEY: KEYS.old });
    try {
      const queue = new Queue("notes", {
        transport,
        encryption: encrypting({ keys: { k: KEYS.old }, current: "k" }),
      });
      const request = new Request("http://sluice.test/", {
        method: "POST",
        body: JSON.stringify({ note: MARKER }),
      });
      const { id } = (await (await deployed.fetch(request)).json()) as { id: string };
      const note = await queue.wait(id, { for: "10s", every: 50 });
      expect(note).toMatchObject({ state: "completed", result: { note: MARKER } });

      const values = awkwardPayloads.filter(([label]) => !label.startsWith("1 M")).map(([, value]) => value);
      const tasks = [...values, MARKER].map((payload) => ({ payload }));
      const enqueued = await queue.enqueueMany(tasks);
      await deployed.cron();
      const results = await Promise.all(
        enqueued.map((task) => queue.wait(task.id, { for: "10s", every: 50 })),
      );
      expect(results.map((task) => comparable(task?.result))).toStrictEqual(
        [...values, MARKER].map(comparable),
      );
      expect(shows(await readKeySpace(place.redis.url))).toBe(false);
    } finally {
      await deployed.stop();
    }
  });
}
