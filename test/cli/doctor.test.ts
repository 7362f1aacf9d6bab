import { describe, expect, test, vi } from "vitest";
import { EmbeddedDatabase } from "../../src/embedded/index.ts";
import { startGateway } from "../../src/local/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { skipWaits } from "../support/skip-waits.ts";
import { startRedis } from "../support/redis.ts";
import { byAbout, type Finding } from "./findings.ts";
import { targets, useCli } from "./rig.ts";
import { runHere } from "./run-here.ts";

const rig = useCli();

const doctor = (...args: string[]) => rig.run(["doctor", ...args]);
const about = async (name: string) =>
  (await doctor()).rows
    .filter((row: Finding) => row.about === name)
    .map(({ status, found, advice }: Finding) => [status, found, advice]);

test.each(targets)("with %s doctor finds nothing wrong with a sound queue", async (target) => {
  await rig.queue().enqueue(1);
  const { code, rows } = await rig.to(target).sluice("doctor");
  expect(code).toBe(0);
  // Whether these are slow or late depends on the machine.
  const { Redis, clock, ...others } = byAbout(rows);
  expect(Redis?.[1]).toMatch(/^scripts run; \d+ ms a call$/);
  expect(clock?.[1]).toContain("this machine");
  expect(others).toMatchObject({
    version: ["ok", expect.stringMatching(/^\d+\.\d+/), undefined],
    eviction: ["ok", "off (noeviction)", undefined],
    memory: ["ok", expect.stringMatching(/^\d+ MB used$/), undefined],
    durability: ["warning", "no append-only file", "a restart of Redis loses tasks. Set appendonly yes"],
    emails: ["ok", "1 pending, 0 working, about 1 KB", undefined],
  });
  const { text, err } = await rig.to(target).onTerminal("doctor");
  expect(text).toMatch(/\n! durability: no append-only file\n {4}→ a restart of Redis loses tasks\. /);
  expect(err).toMatch(/^Checking [^]*\n0 problems, \d warnings?\.\n$/);
});

test("doctor of an empty database", async () => {
  expect(await about("queues")).toEqual([["ok", "there is none yet", undefined]]);
});

test("doctor repairs broken entries if asked", async () => {
  await rig.queue().enqueue(1, { id: "lost" });
  await rig.raw(["HSET", "sluice:{emails}:tasks", "lost", "garbage"]);
  await rig.queue().dequeue();
  const broken = {
    status: "problem",
    code: "broken_entries",
    about: "emails",
    found: "1 broken entry set aside",
    queue: "emails",
  };
  const { code, rows } = await doctor();
  expect(code).toBe(1);
  expect(rows).toContainEqual({ ...broken, advice: "sluice sweep --deep --queue emails" });
  const repaired = await doctor("--repair");
  expect(repaired).toMatchObject({ code: 0 });
  expect(repaired.rows).toContainEqual({
    status: "warning",
    code: "repaired",
    about: "emails",
    found: expect.stringMatching(/: 1 repaired$/),
    advice: "a failover or other code changed its keys",
  });
  expect((await doctor("--repair")).rows).toContainEqual({
    status: "ok",
    code: "deep_sweep",
    about: "deep sweep",
    found: "no fault",
  });
});

test("doctor names a queue whose keys are of something else", async () => {
  for (const name of ["aaa", "emails", "zzz"]) await rig.queue(name).enqueue(1);
  await rig.raw(["DEL", "sluice:{emails}:pending"], ["SET", "sluice:{emails}:pending", "not a list"]);
  expect(await about("emails")).toEqual([
    ["problem", "it cannot be read: redis_error", "sluice stats emails says why"],
  ]);
  for (const name of ["aaa", "zzz"])
    expect(await about(name)).toMatchObject([["ok", expect.stringMatching(/^1 pending/), undefined]]);
  expect((await rig.run(["stats", "emails"])).code).toBe(1);
});

test("doctor measures the way to Redis", async () => {
  rig.gateway.faults.add({ kind: "delay", ms: 250, match: { command: "EVALSHA", times: 2 } });
  const [[status, found, advice] = []] = await about("Redis");
  expect([status, advice]).toEqual(["warning", "deploy the functions in the region of the database"]);
  expect(found).toMatch(/^scripts run; \d{3,} ms a call$/);
});

test("doctor reports how Redis is set up, and that it takes no writes", async () => {
  const redis = await startRedis();
  const transport = resp(redis.url);
  const set = ["maxmemory-policy", "allkeys-lru", "min-replicas-to-write", "1", "appendonly", "yes"];
  await transport.send([["CONFIG", "SET", ...set, "maxmemory", "2000000000"]]);
  skipWaits();
  const { code, rows } = await runHere(["doctor"], { REDIS_URL: redis.url });
  vi.restoreAllMocks();
  await transport.close();
  await redis.stop();
  expect(code).toBe(1);
  expect(byAbout(rows)).toMatchObject({
    eviction: ["problem", "allkeys-lru", expect.stringContaining("Set maxmemory-policy noeviction")],
    writes: [
      "problem",
      "Redis takes no writes",
      "is it a read-only replica, is it loading, or does it lack replicas?",
    ],
    durability: ["ok", "append-only file", undefined],
    memory: ["ok", expect.stringMatching(/^\d+ MB used of 2000 MB$/), undefined],
  });
});

test("the database is named by Upstash's variables, or by those of Vercel's integration, never by one of each", async () => {
  const gateway = await startGateway({ database: new EmbeddedDatabase() });
  const kv = { KV_REST_API_URL: gateway.url, KV_REST_API_TOKEN: gateway.token };
  const own = { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token };
  const found = async (env: Record<string, string>) =>
    byAbout((await runHere(["doctor"], env)).rows)["variables"];
  expect(await found(own)).toBeUndefined();
  expect(await found(kv)).toEqual(["ok", "KV_REST_API_URL and KV_REST_API_TOKEN are used", undefined]);
  expect(await found({ ...own, ...kv })).toEqual([
    "ok",
    "UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are used",
    undefined,
  ]);
  expect(await found({ ...own, ...kv, KV_REST_API_URL: "https://other.example.com" })).toEqual([
    "warning",
    "UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are used; KV_REST_API_URL names another database",
    "remove the variables of the database that is not meant",
  ]);
  await gateway.close();
  const { code, err } = await runHere(["queues"], { ...kv, UPSTASH_REDIS_REST_TOKEN: "s3cret" });
  expect([code, err]).toEqual([2, expect.stringContaining("UPSTASH_REDIS_REST_URL must be set")]);
});

test.each(targets)(
  "with %s doctor looks at the queues that are named, for as long as is said",
  async (target) => {
    const earlier = (minutes: number) => ({ now: () => Date.now() - minutes * 60_000 });
    await rig.queue("emails", earlier(8)).enqueue(1);
    await rig.queue("mails", earlier(8)).enqueue(1);
    const codes = async (...args: string[]) => {
      const { code, rows } = await rig.to(target).sluice("doctor", ...args);
      const ofQueues = rows.filter(({ about }) => about.endsWith("mails"));
      return [code, ofQueues.map((row) => [row.about, row.code])];
    };
    expect(await codes()).toEqual([
      0,
      [
        ["emails", "queue"],
        ["mails", "queue"],
      ],
    ]);
    expect(await codes("mails", "--after", "5m")).toEqual([1, [["mails", "no_consumer"]]]);
    const refused = await rig.to(target).sluice("doctor", "--after", "2h");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("--after must be a duration")]);
    await rig.queue("other").enqueue(1);
    expect(await codes("mails", "*mails", "other", "--after", "5m")).toEqual([
      1,
      [
        ["mails", "no_consumer"],
        ["emails", "no_consumer"],
      ],
    ]);
  },
);

describe.each(targets)("with %s doctor of a queue", (target) => {
  const doctorOf = async (...patterns: string[]) => {
    const { code, rows, err } = await rig.to(target).sluice("doctor", ...patterns);
    return { code, err, queues: rows.filter(({ code: of }) => of === "queue").map((row) => row.about) };
  };

  test("that does not exist is refused", async () => {
    await rig.queue("emails").enqueue(1);
    const where = "To list all: sluice queues";
    expect(await doctorOf("emails", "emials")).toEqual({
      code: 1,
      err: expect.stringContaining(`there is no queue emials; did you mean emails? ${where}`),
      queues: [],
    });
    expect(await doctorOf("mail*")).toMatchObject({
      code: 1,
      err: expect.stringContaining(`no queue matches mail*. ${where}`),
    });
    expect(await doctorOf("*")).toMatchObject({ code: 0, queues: ["emails"] });
  });

  test("that has been empty for so long that no list has it finds nothing wrong", async () => {
    await rig.operator().configure({ maxWorking: 3 });
    await rig.queue("other").enqueue(1);
    await rig.raw(["ZREM", "sluice:queues", "emails"]);
    expect(await doctorOf("emails")).toMatchObject({ code: 0, queues: ["emails"] });
    expect(await doctorOf("emails", "other")).toMatchObject({ code: 0, queues: ["emails", "other"] });
  });
});

test("doctor --repair repairs only the queues that are named", async () => {
  for (const name of ["emails", "other"]) {
    await rig.queue(name).enqueue(1, { id: "lost" });
    await rig.raw(["HSET", `sluice:{${name}}:tasks`, "lost", "garbage"]);
    await rig.queue(name).dequeue();
  }
  const { rows } = await doctor("emails", "--repair");
  expect(rows).toContainEqual(expect.objectContaining({ code: "repaired", about: "emails" }));
  const [first] = await about("other");
  expect(first).toMatchObject(["problem", "1 broken entry set aside", expect.any(String)]);
});
