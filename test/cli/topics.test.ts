import { expect, test } from "vitest";
import { defineTopic, Topics } from "../../src/http/topics/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { targets, useCli } from "./rig.ts";

const rig = useCli();

test.each(targets)("queues subscribe to topics, and get what is published, through %s", async (target) => {
  const { sluice, onTerminal } = rig.to(target);
  for (const queue of ["billing", "search"]) await rig.queue(queue).enqueue(0, { id: "first" });
  const eu = ["--header", "region", "--in", "eu,us"];
  expect((await onTerminal("subscribe", "billing", "orders.#", ...eu)).text).toBe(
    "Subscribed billing to orders.#.\n",
  );
  const again = await sluice("subscribe", "billing", "orders.#", ...eu);
  expect(again.rows).toEqual([{ queue: "billing", topic: "orders.#", created: false }]);
  await sluice("subscribe", "search", "orders");
  const misspelt = await sluice("subscribe", "serch", "orders");
  expect([misspelt.code, misspelt.err]).toEqual([
    1,
    "sluice: there is no queue serch; did you mean search? To create it: --new. To list all: sluice queues\n",
  ]);
  expect((await onTerminal("topics")).text).toBe(
    [
      "TOPIC     QUEUE    FILTER           BY",
      "orders    search                    operator",
      "orders.#  billing  region in eu us  operator",
      "",
    ].join("\n"),
  );
  expect((await sluice("topics", "orders.new")).rows).toMatchObject([{ topic: "orders.#" }]);

  const publish = ["publish", "orders", '{"n": 1}', "--id", "a"];
  const preview = await onTerminal(...publish, "--dry-run");
  expect(preview.text).toBe("search would get it. Filtered: billing.\n");
  expect((await onTerminal(...publish, "--header", "region=eu")).text).toBe(
    "Published a to 2 queues: billing, search.\n",
  );
  expect((await onTerminal(...publish)).text).toBe(
    "Published a to 1 queue: search. Had it already: search.\n",
  );
  expect((await sluice("publish", "other", "1", "--id", "b")).rows).toMatchObject([{ id: "b", copies: [] }]);
  expect((await rig.queue("billing").get("a"))?.headers).toEqual({ region: "eu" });

  const none = await sluice("unsubscribe", "billing", "order.#");
  expect([none.code, none.err]).toEqual([
    1,
    "sluice: billing is not subscribed to order.#; did you mean orders.#?\n",
  ]);
  expect((await onTerminal("unsubscribe", "billing", "orders.#")).text).toBe(
    "billing gets no more messages of orders.#.\n",
  );
});

test("a publish that does not reach each queue says which have a copy", async () => {
  for (const queue of ["billing", "full"]) {
    await rig.queue(queue).enqueue(0);
    await rig.sluice("subscribe", queue, "orders");
  }
  await rig.operator("full").configure({ maxPending: 1 });
  for (const target of targets) {
    const { code, text, err } = await rig.to(target).onTerminal("publish", "orders", "1", "--id", "a");
    const had = target === targets[0] ? "" : " Had it already: billing.";
    expect([code, text, err]).toEqual([
      1,
      `Published a to 1 queue: billing.${had}\n`,
      "full has no copy: queue_full.\nTo add what is missing, publish it again with --id a.\n",
    ]);
  }
});

test("what a topic has kept is given to a queue, also again", async () => {
  const transport = resp(rig.redis.url);
  const orders = defineTopic("orders", { retain: { for: "1h" } });
  await new Topics({ transport }).topic(orders).publish(1, { id: "a" });
  await transport.close();
  const late = await rig.onTerminal("subscribe", "late", "orders", "--since", "1h", "--new");
  expect([late.text, late.err]).toEqual([
    "Subscribed late to orders. It got 1 message of before.\n",
    "late is a new queue.\n",
  ]);
  const { text } = await rig.onTerminal("replay", "orders", "--to", "late", "--since", "1h");
  expect(text).toBe("Gave late 1 message of orders.\n");
  expect((await rig.onTerminal("topics", "orders")).err).toBe(
    "orders keeps its messages for 1h, at most 10000000 bytes.\n",
  );
  const other = await rig.sluice("replay", "orders", "--to", "other", "--since", "1h");
  expect([other.code, other.err]).toEqual([1, "sluice: other is not subscribed to orders\n"]);
});

test.each([
  [["subscribe", "emails", "orders", "--header", "a"], "give --header and --in together"],
  [
    ["subscribe", "emails", "orders", "--header", "a", "--in", "b", "--filter", "{}"],
    "give either --filter, or --header and --in",
  ],
  [["subscribe", "emails", "orders..new"], "topic must be words"],
  [["publish", "orders.*", "1"], "topic must be words"],
  [["publish", "orders", "1", "--header", "a"], "must be <name>=<value>"],
  [["topics", ".."], "<topic> must be words"],
])("%j is a wrong command line", async (args, message) => {
  await rig.queue().enqueue(1);
  const { code, err } = await rig.sluice(...args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});
