import { beforeEach, expect, test } from "vitest";
import { type Called, useCli } from "./rig.ts";

// That each argument and option reaches the call. What the calls do, test/http and test/proofs/model prove.

const rig = useCli();

beforeEach(async () => {
  for (const queue of ["emails", "reports"]) await rig.queue(queue).enqueue(1);
});

const emails = "/v1/queues/emails";
const tasks = `${emails}/tasks`;
const listing = (given: object): Called => [`GET ${tasks}`, given];
const redriving = (given: object): Called => [`POST ${emails}/redrive`, given];
const purging = (given: object): Called => [`POST ${emails}/purge`, given];
const configuring = (given: object): Called => [`PATCH ${emails}/settings`, given];
const enqueuing = (given: object): Called => [`POST ${tasks}`, given];
const pulling = (given: object): Called => [`POST ${tasks}/pull`, given];
const settling = (...settlements: object[]): Called => [`POST ${tasks}/settle`, { settlements }];

/** Every option that selects tasks, and these as a body and as a query. */
const FILTER =
  "--text 503 --group g --reason rejected --since 1700000000000 --until 1700000000001 --enqueued-since 1700000000002 --enqueued-until 1700000000003";
const filter = {
  text: "503",
  group: "g",
  reason: "rejected",
  endedSince: 1_700_000_000_000,
  endedUntil: 1_700_000_000_001,
  enqueuedSince: 1_700_000_000_002,
  enqueuedUntil: 1_700_000_000_003,
};
const query = Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)]));

const ODD = "a/../b%2F?c;#..";
const odd = "a%2F..%2Fb%252F%3Fc%3B%23..";

/** What a group without tasks and settings may be meant to be. */
const groupsOfEmails: Called[] = [[`GET ${emails}/groups`, { size: "1000" }]];

const subscribing = (topic: string) => `PUT /v1/topics/${topic}/subscriptions/emails`;
const replaying = "POST /v1/topics/orders/subscriptions/emails/replay";

const budget = 10_000;
const retryable = ["attempts_exhausted", "lease_expired", "taken_back"];

test.each<[line: string, ...calls: (string | Called)[]]>([
  ["queues", ["GET /v1/queues", { counts: "true", size: "100" }]],
  ["dead", ["GET /v1/queues", { counts: "true", size: "100" }]],
  [`ls emails --state rejected --limit 7 ${FILTER}`, listing({ state: "rejected", size: "8", ...query })],
  ["ls emails --state pending --payloads", listing({ payloads: "true", state: "pending", size: "51" })],
  ["ls emails --state delayed --reverse", listing({ reverse: "true", state: "delayed", size: "51" })],
  [
    "find a@example.com --queues e* --state rejected --limit 3",
    ["GET /v1/search", { text: "a@example.com", queues: "e*", state: "rejected", size: "3" }],
  ],
  ["show emails a", [`GET ${tasks}/a`, { payload: "true" }]],
  ["show emails a --no-payload", `GET ${tasks}/a`],
  [`dead emails --limit 3 ${FILTER}`, listing({ state: "rejected", size: "3", reverse: "true", ...query })],
  ["stats emails", `GET ${emails}`, `GET ${emails}/statistics`],
  ["groups emails", [`GET ${emails}/groups`, { size: "101" }]],
  ["groups emails --stopped --limit 7", [`GET ${emails}/stopped-groups`, { size: "7" }]],
  ["flow 1{n@emails} --cancel", ["POST /v1/flows/n%40emails/cancel", {}]],
  ["flow n@emails --redrive", ["POST /v1/flows/n%40emails/redrive", {}]],
  ["flow n@emails", "GET /v1/flows/n%40emails"],
  ["endpoints", ["GET /v1/endpoints", { size: "1000" }]],
  [
    "endpoints add acme url=https://a.example types=a.*,b rate=5/1s maxWorking=3 header.x-a=1 secret=s",
    [
      "POST /v1/endpoints",
      {
        id: "acme",
        url: "https://a.example",
        types: ["a.*", "b"],
        rate: { most: 5, per: 1_000 },
        maxWorking: 3,
        secret: "s",
        headers: { "x-a": "1" },
      },
    ],
  ],
  ["endpoints show a", "GET /v1/endpoints/a", ["GET /v1/endpoints", { size: "1000" }]],
  ["skip emails a", [`POST ${tasks}/a/skip`, {}]],
  ["schedules emails", `GET ${emails}/schedules`],
  ["schedules emails --pause s", [`POST ${emails}/schedules/s/pause`, {}], `GET ${emails}/schedules`],
  ["schedules emails --resume s", [`POST ${emails}/schedules/s/resume`, {}], `GET ${emails}/schedules`],
  ["schedules emails --run s", [`POST ${emails}/schedules/s/run`, {}], `GET ${emails}/schedules`],
  ["schedules emails --remove s", `DELETE ${emails}/schedules/s`, `GET ${emails}/schedules`],
  ["topics", "GET /v1/topics"],
  ["topics orders.new", "GET /v1/topics/orders.new"],
  ["subscribe emails orders", [subscribing("orders"), {}]],
  [
    "subscribe emails orders.# --header region --in eu,us --since 2h",
    [subscribing("orders.%23"), { filter: { header: "region", in: ["eu", "us"] }, since: "7200000ms" }],
  ],
  [
    'subscribe emails orders --filter {"header":"test","exists":false} --since 1700000000000',
    [subscribing("orders"), { filter: { header: "test", exists: false }, since: 1_700_000_000_000 }],
  ],
  ["replay orders --to emails --since 2h", [replaying, { since: "7200000ms", budget: 20_000 }]],
  [
    "publish orders 1 --id a --delay 2s --group g --priority 3 --lease 1m --max-attempts 2 --unique 1h --header region=eu test==1",
    [
      "POST /v1/topics/orders/publish",
      {
        payload: 1,
        id: "a",
        delay: 2_000,
        group: "g",
        priority: 3,
        lease: 60_000,
        maxAttempts: 2,
        unique: 3_600_000,
        headers: { region: "eu", test: "=1" },
      },
    ],
  ],
  [
    "publish orders 1 --at 1900000000000",
    ["POST /v1/topics/orders/publish", { payload: 1, at: 1_900_000_000_000 }],
  ],
  [
    "publish orders 1 --dry-run --header region=eu",
    ["POST /v1/topics/orders/preview", { headers: { region: "eu" } }],
  ],
  ["workers emails", `GET ${emails}/workers`],
  ["workers emails --all", `GET ${emails}/workers`],
  [
    "doctor * other* --after 5m",
    "GET /v1/token",
    ["GET /v1/health/queues", { after: "300000" }],
    ["GET /v1/health/queues", { queues: "other*", after: "300000" }],
  ],
  [
    "doctor emails",
    "GET /v1/token",
    ["GET /v1/health/queues", { queues: "emails" }],
    "GET /health",
    `GET ${emails}/diagnostics`,
  ],
  [
    "redrive emails",
    redriving({ reason: retryable, budget }),
    redriving({ reason: "rejected", dryRun: true, budget }),
  ],
  ["redrive emails --rejected", redriving({ reason: ["rejected", ...retryable], budget })],
  [
    "redrive emails --reason lease_expired,rejected",
    redriving({ reason: ["rejected", "lease_expired"], budget }),
  ],
  [
    `redrive emails --rate 0.5 --limit 7 ${FILTER}`,
    redriving({ ...filter, reason: ["rejected"], rate: 0.5, limit: 7, budget }),
  ],
  [`redrive emails --dry-run --limit 7 ${FILTER}`, listing({ state: "rejected", size: "7", ...query })],
  ["redrive emails a b --rate 2", redriving({ ids: ["a", "b"], rate: 2 })],
  ["redrive emails a --rate 30/1m", redriving({ ids: ["a"], rate: 0.5 })],
  ["redrive emails a --dry-run", redriving({ ids: ["a"], dryRun: true })],
  ["cancel emails a b", [`POST ${tasks}/a/cancel`, {}], [`POST ${tasks}/b/cancel`, {}]],
  ["forget emails a b", `DELETE ${emails}/keys/a`, `DELETE ${emails}/keys/b`],
  [
    `purge emails --yes --state dead --limit 7 ${FILTER}`,
    purging({ state: "rejected", ...filter, limit: 7, budget }),
  ],
  ["purge emails --yes --state delayed", purging({ state: "delayed", budget })],
  ["pause emails reports", [`POST ${emails}/pause`, {}], ["POST /v1/queues/reports/pause", {}]],
  ["pause emails --for 5m", [`POST ${emails}/pause`, { for: 300_000 }]],
  ["resume emails", [`POST ${emails}/resume`, {}]],
  ["settings emails", `GET ${emails}/settings`],
  ["settings emails --group g", `GET ${emails}/groups/g`, ...groupsOfEmails],
  ["settings emails maxWorking=10 maxPending=100", configuring({ maxWorking: 10, maxPending: 100 })],
  ["settings emails rate=5/1500ms", configuring({ rate: { most: 5, per: 1_500 } })],
  ["settings emails rate=5", configuring({ rate: { most: 5, per: 1_000 } })],
  ["settings emails events=on statistics=on", configuring({ events: true, statistics: true })],
  [
    "settings emails maxWorking=none rate=none maxPending=none",
    configuring({ maxWorking: null, rate: null, maxPending: null }),
  ],
  ["settings emails order=strict onDead=stop", configuring({ order: "strict", onDead: "stop" })],
  ["settings emails order=none onDead=continue", configuring({ order: null, onDead: "continue" })],
  [
    "settings emails --group g order=none onDead=queue",
    `GET ${emails}/groups/g`,
    [`PATCH ${emails}/groups/g`, { order: "none", onDead: null }],
    ...groupsOfEmails,
  ],
  ["settings emails events=off statistics=off", configuring({ events: false, statistics: false })],
  [
    "settings emails --group g weight=3 maxWorking=1 rate=7/2s paused=5m",
    `GET ${emails}/groups/g`,
    [
      `PATCH ${emails}/groups/g`,
      { weight: 3, maxWorking: 1, paused: { for: 300_000 }, rate: { most: 7, per: 2_000 } },
    ],
    ...groupsOfEmails,
  ],
  ["delete emails --yes", `GET ${emails}`, `GET ${emails}/schedules`, `DELETE ${emails}`],
  [
    "delete emails --yes --force",
    `GET ${emails}`,
    `GET ${emails}/schedules`,
    [`DELETE ${emails}`, { force: "true" }],
  ],
  ["sweep", ["POST /v1/sweep", { budget: 20_000 }]],
  ["sweep --deep", ["POST /v1/sweep", { deep: true, budget: 20_000 }]],
  ["sweep --deep --queue emails", ["POST /v1/sweep", { deep: true, queue: "emails", budget: 20_000 }]],
  [
    'enqueue emails {"to":"a"} --id one --priority 7 --group g --max-attempts 3',
    enqueuing({ payload: { to: "a" }, id: "one", priority: 7, group: "g", maxAttempts: 3 }),
  ],
  [
    "enqueue emails 1 --id a --lease 1m --unique 1d --delay 1h",
    enqueuing({ payload: 1, id: "a", lease: 60_000, unique: 86_400_000, delay: 3_600_000 }),
  ],
  [
    'enqueue emails 1 --id a --debounce {"key":"a","wait":"5s"}',
    enqueuing({ payload: 1, id: "a", debounce: { key: "a", wait: "5s" } }),
  ],
  [
    'enqueue emails 1 --id a --throttle {"key":"a","most":1,"per":"1m"}',
    enqueuing({ payload: 1, id: "a", throttle: { key: "a", most: 1, per: "1m" } }),
  ],
  [
    'enqueue emails 1 --id a --singleton {"key":"a","while":"waiting"}',
    enqueuing({ payload: 1, id: "a", singleton: { key: "a", while: "waiting" } }),
  ],
  ["enqueue emails 1 --id a --replace", enqueuing({ payload: 1, id: "a", replace: true })],
  [
    "enqueue emails null --id a --at 1900000000000",
    enqueuing({ payload: null, id: "a", at: 1_900_000_000_000 }),
  ],
  ["pull emails", pulling({ max: 1 })],
  ["pull emails --max 2 --lease 1h --wait 1s", pulling({ max: 2, lease: 3_600_000, wait: 1_000 })],
  [
    "settle emails r s --complete --result 1",
    settling(
      { receipt: "r", outcome: "complete", result: 1 },
      { receipt: "s", outcome: "complete", result: 1 },
    ),
  ],
  ["settle emails r --reject --error bad", settling({ receipt: "r", outcome: "reject", error: "bad" })],
  [
    "settle emails r --requeue --error bad --delay 1h",
    settling({ receipt: "r", outcome: "requeue", error: "bad", delay: 3_600_000 }),
  ],
  ["settle emails r --extend --lease 1h", settling({ receipt: "r", outcome: "extend", lease: 3_600_000 })],
  [
    "export emails --state dead,pending --text 503",
    listing({ state: "rejected", payloads: "true", size: "500", text: "503" }),
    listing({ state: "pending", payloads: "true", size: "500", text: "503" }),
  ],
  // Names that a path could take for its own.
  [`show emails ${ODD} --no-payload`, `GET ${tasks}/${odd}`],
  [`cancel emails ${ODD}`, [`POST ${tasks}/${odd}/cancel`, {}]],
  [`redrive emails ${ODD}`, redriving({ ids: [ODD] })],
  [`ls emails --state pending --group ${ODD}`, listing({ group: ODD, state: "pending", size: "51" })],
  [
    `settings emails --group ${ODD} weight=2`,
    `GET ${emails}/groups/${odd}`,
    [`PATCH ${emails}/groups/${odd}`, { weight: 2 }],
    ...groupsOfEmails,
  ],
  [
    `schedules emails --pause ${ODD}`,
    [`POST ${emails}/schedules/${odd}/pause`, {}],
    `GET ${emails}/schedules`,
  ],
  [`schedules emails --remove ${ODD}`, `DELETE ${emails}/schedules/${odd}`, `GET ${emails}/schedules`],
])("sluice %s", async (line, ...calls) => {
  const made = await rig.calling(line);
  // Whether the queue is known is asked first.
  const isCheck = ([request, given]: Called) =>
    request === "GET /v1/queues" && !Object.hasOwn(given!, "counts");
  expect(made.filter((call) => !isCheck(call))).toEqual(calls.map((call) => [call].flat()));
});
