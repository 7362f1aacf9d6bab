import { expect, it } from "vitest";
import { Queue } from "../../../src/index.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { useWorker } from "./rig.ts";

const rig = useWorker("test/platforms/cloudflare/declared.toml");

// Workers forbid that requests share I/O.
it("the own methods of a declared queue work in workerd, in many requests at once", async () => {
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  const answers = await Promise.all(
    numbers.map(async (number) => {
      const response = await rig.fetch(new Request(`https://declared.test/${number}`));
      return [response.status, await response.json()];
    }),
  );
  const expected = numbers.map((number) => [200, { id: String(number), created: true, state: "pending" }]);
  expect(answers).toEqual(expected);
  const queue = new Queue("orders", { transport: upstash(rig.place.env) });
  expect(await queue.counts()).toMatchObject({ pending: 80 });
});
