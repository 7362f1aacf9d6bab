import { describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { Topics } from "../../../src/http/topics/index.ts";
import type { Command, Transport } from "../../../src/kernel/transport.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const now = () => rig.now;
const topics = (transport: Transport = rig.transport) => new Topics({ transport, now });
const queue = (name: string) => new Queue(name, { transport: rig.transport, now });

/** The transport, and the commands of each request that it sends. */
function counting(): { transport: Transport; requests: Command[][] } {
  const requests: Command[][] = [];
  const send: Transport["send"] = (commands, options) => {
    requests.push([...commands]);
    return rig.transport.send(commands, options);
  };
  return { transport: { ...rig.transport, send }, requests };
}

const nameOf = (command: Command) => ("script" in command ? command.script.name : command[0]);

/** The ids and payloads that a queue has. */
async function received(name: string): Promise<[id: string, payload: unknown][]> {
  return (await queue(name).dequeue({ max: 100 })).map(({ id, payload }) => [id, payload]);
}

describe("a message", () => {
  test("reaches each queue that has subscribed to its topic, in one request", async () => {
    for (const name of ["billing", "search", "mail"]) await topics().subscribe(name, "orders");
    await topics().subscribe("other", "payments");
    const { transport, requests } = counting();
    const publisher = topics(transport).topic("orders");
    // The first call reads the list of subscriptions.
    await publisher.publish({ order: 1 }, { id: "order-1" });
    expect(requests.map((request) => request.map(nameOf))).toEqual([
      ["HGETALL", "TIME"],
      ["register", "HGET", "enqueue", "enqueue", "enqueue"],
    ]);
    requests.length = 0;
    const published = await publisher.publish({ order: 2 }, { id: "order-2", headers: { region: "eu" } });
    expect(published).toEqual({
      id: "order-2",
      copies: ["billing", "mail", "search"].map((name) => ({ queue: name, created: true })),
      failed: [],
      reread: false,
    });
    expect(requests.map((request) => request.map(nameOf))).toEqual([
      ["HGET", "enqueue", "enqueue", "enqueue"],
    ]);
    for (const name of ["billing", "search", "mail"]) {
      expect(await received(name)).toEqual([
        ["order-1", { order: 1 }],
        ["order-2", { order: 2 }],
      ]);
    }
    expect(await received("other")).toEqual([]);
  });
});
