import { beforeAll, describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { awkwardPayloads, comparable } from "../../support/payloads.ts";
import { useTransports } from "./transports.ts";

const { all } = useTransports();
const [upstash, resp, ...others] = all.map(({ connect }) => connect);

// That each transport leaves texts as they are: transport-commands.
describe.each<[name: string, connect: readonly ((() => Transport) | undefined)[]]>([
  ["what one transport wrote the other reads: upstash, resp", [upstash, resp]],
  ["what one transport wrote the other reads: resp, upstash", [resp, upstash]],
  ["in the embedded store", [others.at(-1), others.at(-1)]],
])("every payload comes back identical (law 9), %s", (_, connect) => {
  let queues: readonly Queue[];
  beforeAll(() => {
    queues = connect.map((each) => new Queue("payloads", { transport: each!() }));
  });

  test.each(awkwardPayloads)("%s", async (label, payload) => {
    const [writer, reader] = queues;
    await writer!.enqueue(payload, { id: "one" });
    await writer!.enqueueMany([{ payload }, { payload }]);
    const batch = await reader!.dequeue({ max: 3 });
    const same = comparable(payload);
    expect(batch.map((task) => comparable(task.payload))).toStrictEqual([same, same, same]);

    // As a result and, within its limit, as an error too.
    await batch[0]?.complete(payload);
    expect(comparable((await writer!.get("one"))?.result)).toStrictEqual(same);
    if (!label.startsWith("1 M")) {
      await batch[1]?.reject(payload);
      expect(comparable((await writer!.get(batch[1]?.id ?? ""))?.error)).toStrictEqual(same);
    }
  });
});
