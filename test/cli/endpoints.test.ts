import { describe, expect, test } from "vitest";
import { type Called, targets, useCli } from "./rig.ts";

// Endpoints on the command line: what is asked, and what is shown.

const rig = useCli();
const url = "url=https://acme.example/hooks";

test("an endpoint is added, shown, changed, disabled, enabled, rotated and removed", async () => {
  const { sluice, onTerminal } = rig;
  expect((await onTerminal("endpoints")).err).toBe("There are no endpoints.\n");
  const added = await onTerminal("endpoints", "add", "acme", url, "types=orders.*,x", "header.x-key=hidden");
  expect(added.text).toMatch(/^Added acme\. Its secret, which is not shown again:\nwhsec_[\w+/=]+\n$/);
  const changed = await onTerminal("endpoints", "change", "acme", "rate=5/1s", "maxWorking=2");
  expect(changed.text).toMatch(
    /^id {10}acme\nurl {9}https:.*\ntypes {7}orders\.\* x\nstate {7}active\nmaxWorking {2}2\nrate {8}5\/1000ms\nheaders {5}x-key\nsecrets {5}….{4}\n$/,
  );
  expect((await sluice("endpoints", "change", "acme", "rate=none")).rows).toMatchObject([{ rate: null }]);
  expect((await onTerminal("endpoints", "disable", "acme")).text).toContain("disabled: by an operator");
  expect((await sluice("endpoints")).rows).toMatchObject([{ id: "acme", state: "disabled" }]);
  expect((await onTerminal("endpoints")).text).toMatch(/ID +URL +TYPES +STATE.*\nacme +https:/);
  await sluice("endpoints", "enable", "acme");
  const rotated = await sluice("endpoints", "rotate", "acme", "--keep", "1h");
  expect(rotated.rows[0].secrets).toHaveLength(2);
  const text = (await onTerminal("endpoints", "show", "acme")).text;
  expect(text).toMatch(/secrets {5}….{4}, ….{4} until \d{4}-/);
  expect(text).not.toContain("hidden");
  expect((await sluice("endpoints", "remove", "acme")).rows).toEqual([{ id: "acme", removed: true }]);
});

describe.each(targets)("with %s", (target) => {
  test("what failed is replayed", async () => {
    const { sluice, onTerminal } = rig.to(target);
    await sluice("endpoints", "add", "acme", url);
    const queue = rig.queue("deliveries");
    await queue.enqueueMany([1, 2].map((payload) => ({ payload, group: "acme" })));
    for (const task of await queue.dequeue({ max: 2 })) await task.reject("no");
    const replaying = ["endpoints", "replay", "acme", "--since", "2h"];
    expect((await onTerminal(...replaying, "--dry-run")).text).toBe(
      "2 deliveries would be replayed. Nothing was changed.\n",
    );
    expect((await onTerminal(...replaying, "--limit", "1")).text).toBe("Replayed 1 delivery of acme.\n");
    expect((await sluice(...replaying)).rows).toEqual([{ id: "acme", replayed: 1 }]);
  });
});

test("options reach the calls", async () => {
  await rig.sluice("endpoints", "add", "acme", url);
  const get = "GET /v1/endpoints/acme";
  const rows: [line: string, call: Called][] = [
    ["rotate acme --keep 1h", ["POST /v1/endpoints/acme/rotate", { keep: 3_600_000 }]],
    [
      "replay acme --since 1700000000000 --until 1700000000001 --limit 3 --rate 30/1m --dry-run",
      [
        "POST /v1/endpoints/acme/replay",
        {
          since: 1_700_000_000_000,
          until: 1_700_000_000_001,
          limit: 3,
          rate: 0.5,
          dryRun: true,
          budget: 10_000,
        },
      ],
    ],
    ["change acme types=a", ["PATCH /v1/endpoints/acme", { types: ["a"] }]],
  ];
  for (const [line, call] of rows) expect(await rig.calling(`endpoints ${line}`)).toEqual([[get], call]);
});

test("what is wrong is refused", async () => {
  await rig.sluice("endpoints", "add", "acme", url);
  for (const [line, message] of [
    ["add", "give the id of the endpoint to add"],
    ["add acme url=https://acme.example", "there is an endpoint acme already"],
    ["disable acme url=x", "disable takes no settings"],
    ["add acme color=red", "color=red must be <name>=<value>"],
    ["replay acme", "give --since <time>"],
    ["add other url=http://10.0.0.1/", "url must have a public host"],
    ["show acm", "there is no endpoint acm; did you mean acme?"],
    ["drop acme", "<action> must be one of show, add"],
  ] as const) {
    const { code, err } = await rig.sluice("endpoints", ...line.split(" "));
    expect([code === 0, err]).toEqual([false, expect.stringContaining(message)]);
  }
});
