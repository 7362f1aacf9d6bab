import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { applyQueues, defineQueue } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { useFolder } from "../support/folder.ts";
import { against, useCli } from "./rig.ts";

const rig = useCli();
const { sluice } = rig;
const folder = useFolder();

const source = (file: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, "../..", file)).href);

/** Writes a module of the test's folder, with what it needs of Sluice imported, and returns its path. */
async function moduleOf(text: string, name = "queues.ts"): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, `import { defineQueue } from ${source("src/index.ts")};\n${text}`);
  return path;
}

const deploy = (...args: string[]) => sluice("deploy", ...args);
const statuses = async (...args: string[]) => {
  const { code, err, rows } = await deploy(...args);
  expect([code, err]).toEqual([0, ""]);
  return Object.fromEntries(rows.map(({ queue, status }) => [queue, status]));
};

test("deploy leaves subscriptions to deployments, and says so", async () => {
  const file = await moduleOf(`
    export const billing = defineQueue("billing", { subscribes: "orders.#" });
    export const plain = defineQueue("plain");
  `);
  const { code, err } = await deploy(file);
  expect([code, err]).toEqual([
    0,
    "Subscriptions to topics were left out: a deployment that has billing applies them. Without one: sluice subscribe\n",
  ]);
  expect((await sluice("topics")).rows).toEqual([]);
});

test("deploy applies the declared queues of a module, also those in lists, and once", async () => {
  const file = await moduleOf(`
    type Payload = { readonly to: string };
    export const emails = defineQueue<Payload>("emails", {
      rate: { most: 5, per: "1s" },
      maxWorking: 3,
      maxAttempts: 4,
      lease: "1m",
      schedules: {
        digest: { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: { to: "team" } },
        beat: { every: "90s", until: new Date(4e12), payload: new Uint8Array([0, 255]) },
      },
    });
    export default [defineQueue("reports", { statistics: true }), emails];
    export const plain = defineQueue("plain");
    export const wide = defineQueue("wide", { partitions: 4 });
    export const redis = { name: "redis", connect() {} };
  `);
  expect(await deploy(file, "--dry-run")).toMatchObject({
    code: 0,
    rows: [
      { queue: "emails", status: "not applied", declares: "maxWorking rate digest beat" },
      { queue: "plain", status: "not applied", declares: "" },
      { queue: "reports", status: "not applied", declares: "statistics" },
      { queue: "wide", status: "not applied", declares: "partitions" },
    ],
  });
  expect((await sluice("queues")).rows).toEqual([]);

  const nothing = { settings: {}, schedules: [], defaults: {} };
  expect(await rig.calling(`deploy ${file}`)).toEqual([
    [
      "PUT /v1/queues/emails/declaration",
      {
        settings: { maxWorking: 3, rate: { most: 5, per: "1s" } },
        schedules: [
          { name: "digest", cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: { to: "team" } },
          { name: "beat", every: "90s", until: 4e12, payload: "AP8=", encoding: "base64" },
        ],
        defaults: { lease: "1m", maxAttempts: 4 },
      },
    ],
    ["PUT /v1/queues/plain/declaration", nothing],
    ["PUT /v1/queues/reports/declaration", { ...nothing, settings: { statistics: true } }],
    ["PUT /v1/queues/wide/declaration", { ...nothing, partitions: 4 }],
  ]);
  expect(await statuses(file)).toEqual({
    emails: "unchanged",
    plain: "unchanged",
    reports: "unchanged",
    wide: "unchanged",
  });
});

test("a deployment that declares the same queue goes on, and applies nothing again", async () => {
  const declaration = {
    rate: { most: 5, per: "1s" },
    schedules: { beat: { every: "1h", payload: 1 } },
  } as const;
  const file = await moduleOf(`export const emails = defineQueue("emails", ${JSON.stringify(declaration)});`);
  const transport = resp(rig.redis.url);
  const emails = defineQueue("emails", declaration);
  expect(await applyQueues(transport, [emails])).toMatchObject({ applied: ["emails"] });
  expect(await statuses(file)).toEqual({ emails: "unchanged" });
  expect(await applyQueues(transport, [emails])).toMatchObject({ applied: [], failed: [] });
  await transport.close();
});

test("nothing is applied if one declaration is wrong", async () => {
  const schema = `import * as v from ${source("node_modules/valibot/dist/index.mjs")};`;
  const file = await moduleOf(`${schema}
    export const a = defineQueue("a", { statistics: true });
    export const b = defineQueue("b", {
      schema: v.object({ to: v.string() }), schedules: { digest: { every: "1h", payload: { to: 7 } } },
    });`);
  const { code, err, rows } = await deploy(file);
  expect([code, rows]).toEqual([1, []]);
  expect(err).toMatch(/^sluice: b: schedules\.digest\.payload\.to .*\n$/);
  expect((await rig.operator("a").settings()).statistics).toBe(false);
});

test("what the server refuses is named with its queue, after what was applied before", async () => {
  const file = await moduleOf(`
    export const a = defineQueue("a", { statistics: true });
    export const b = defineQueue("b", { schedules: { s: { cron: "every day", payload: 1 } } });
    export const c = defineQueue("c", { statistics: true });`);
  const { code, err, rows } = await deploy(file);
  expect([code, rows]).toEqual([1, [{ queue: "a", status: "applied", declares: "statistics" }]]);
  expect(err).toMatch(/^sluice: b: schedules\.s\.cron must be a cron expression/);
});

test("two queues of one name are refused, the same one in two exports is not", async () => {
  const once = `export const a = defineQueue("emails", { statistics: true }); export default [a];`;
  expect(await statuses(await moduleOf(once, "once.ts"))).toEqual({ emails: "applied" });
  const file = await moduleOf(`${once} export const b = defineQueue("emails");`);
  expect(await deploy(file)).toMatchObject({
    code: 1,
    out: "",
    err: `sluice: ${file} declares the queue emails twice\n`,
  });
});

test("schedules of an encrypted queue are refused, because only code has the keys", async () => {
  const file = await moduleOf(`import { encryption } from ${source("src/features/encryption/aes-gcm.ts")};
    const keys = () => encryption({ keys: { k: ${JSON.stringify("A".repeat(43))} + "=" }, current: "k" });
    export const plain = defineQueue("plain", { encryption: keys, statistics: true });
    export const emails = defineQueue("emails", {
      encryption: keys, schedules: { beat: { every: "1h", payload: "secret" } } });`);
  const { code, err } = await deploy(file);
  expect(code).toBe(1);
  expect(err).toMatch(/^sluice: emails: the payloads of its schedules are encrypted, and only your code/);
});

test.each([
  ["no-queues.mjs", "export const a = 1;", /no-queues\.mjs exports no queue that defineQueue made/],
  ["syntax.mjs", "export const a = {;", /syntax\.mjs cannot be loaded: .*\. To see where: node/],
  ["throws.mjs", 'throw new Error("no key");', /throws\.mjs cannot be loaded: no key\. To see where: node/],
  ["import.mjs", 'import "nope";', /import\.mjs cannot be loaded: Cannot find package 'nope'/],
])("deploy of %s", async (name, text, message) => {
  const path = join(folder.path, name);
  await writeFile(path, text);
  expect(await deploy(path)).toMatchObject({ code: 1, out: "", err: expect.stringMatching(message) });
});

test("deploy ends with 1 if another caller applies a declaration of the queue all the time", async () => {
  const file = await moduleOf(`export const a = defineQueue("a", { statistics: true });`);
  let requests = 0;
  const deferred = () => {
    requests++;
    return Response.json({ status: "deferred" });
  };
  const { code, rows } = await against(deferred, ["deploy", file]);
  expect([code, rows, requests]).toEqual([
    1,
    [{ queue: "a", status: "deferred", declares: "statistics" }],
    5,
  ]);
});
