// What stays beside messages: the URL groups, queues and schedules of QStash, with its own client.
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

const rig = useQStash();

const withStatus = (status: number, message: RegExp | string) =>
  expect.objectContaining({ status, message: expect.stringMatching(message) });

test("a group gets endpoints, more of them, others in their place, and loses them", async () => {
  const { urlGroups } = rig.client;
  const name = "orders";
  const [a, b, c] = ["/a", "/b", "/c"].map((path) => rig.url + path) as [string, string, string];
  await urlGroups.addEndpoints({ name, endpoints: [{ name: "first", url: a }] });
  await urlGroups.addEndpoints({ name, endpoints: [{ url: b }] });
  const created = await urlGroups.get(name);
  expect(created).toEqual({
    name,
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    endpoints: [{ name: "first", url: a }, { url: b }],
  });
  // By its name an endpoint gets another URL, and by its URL another name.
  await urlGroups.addEndpoints({ name, endpoints: [{ name: "first", url: c }] });
  await urlGroups.addEndpoints({ name, endpoints: [{ name: "second", url: b }] });
  const { endpoints, createdAt } = await urlGroups.get(name);
  expect([endpoints, createdAt]).toEqual([
    [
      { name: "first", url: c },
      { name: "second", url: b },
    ],
    created.createdAt,
  ]);
  await urlGroups.removeEndpoints({ name, endpoints: [{ name: "first" }] });
  expect((await urlGroups.list()).find((group) => group.name === name)?.endpoints).toEqual([
    { name: "second", url: b },
  ]);
  await urlGroups.removeEndpoints({ name, endpoints: [{ url: b }] });
  await expect(urlGroups.get(name)).rejects.toEqual(withStatus(404, "URL group orders not found"));
  await expect(urlGroups.removeEndpoints({ name, endpoints: [{ url: b }] })).rejects.toEqual(
    withStatus(404, "orders"),
  );
});

test("endpoints that are added at the same time are all in the group", async () => {
  const urls = Array.from({ length: 8 }, (_, i) => `${rig.url}/${i}`);
  await Promise.all(
    urls.map((url) => rig.client.urlGroups.addEndpoints({ name: "crowd", endpoints: [{ url }] })),
  );
  const { endpoints } = await rig.client.urlGroups.get("crowd");
  expect(endpoints.map(({ url }) => url).toSorted()).toEqual(urls);
  await rig.client.urlGroups.delete("crowd");
  expect(await rig.client.urlGroups.list()).toEqual([]);
});

test("a group takes no endpoint to which nothing may be delivered, and no name that is a URL", async () => {
  const { urlGroups } = rig.client;
  const add = (name: string, url: string) => urlGroups.addEndpoints({ name, endpoints: [{ url }] });
  await expect(add("private", "http://10.0.0.1/hook")).rejects.toEqual(withStatus(400, "public host"));
  await expect(add("a name", rig.url)).rejects.toEqual(withStatus(400, "invalid URL group name"));
  await expect(urlGroups.addEndpoints({ name: "none", endpoints: [] })).rejects.toEqual(
    withStatus(400, "endpoints"),
  );
  expect(await urlGroups.list()).toEqual([]);
});

test("a queue is created, changed, listed and deleted", async () => {
  const reports = rig.client.queue({ queueName: "reports" });
  await reports.upsert({ parallelism: 3 });
  const created = await reports.get();
  expect(created).toEqual({
    name: "reports",
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    parallelism: 3,
    paused: false,
    lag: 0,
  });
  await reports.upsert({ parallelism: 1, paused: true });
  expect(await reports.get()).toMatchObject({
    parallelism: 1,
    paused: true,
    createdAt: created.createdAt,
  });
  await rig.client.queue({ queueName: "bills" }).upsert({});
  expect((await reports.list()).map(({ name, paused }) => [name, paused])).toEqual([
    ["bills", false],
    ["reports", true],
  ]);
  for (const queueName of ["reports", "bills"]) await rig.client.queue({ queueName }).delete();
  await expect(reports.get()).rejects.toMatchObject({ status: 404 });
  await expect(reports.pause()).rejects.toMatchObject({ status: 404 });
  await expect(rig.client.queue({ queueName: "a/b" }).upsert({})).rejects.toMatchObject({ status: 400 });
});

test("a queue delivers as many at once as its parallelism says, also after it has changed", async () => {
  const wide = rig.client.queue({ queueName: "wide" });
  await wide.upsert({ parallelism: 2 });
  const answers: (() => void)[] = [];
  rig.answer = () => new Promise((resolve) => answers.push(() => resolve({})));
  for (const body of "abcdef") await wide.enqueue({ url: `${rig.url}/wide`, body });
  await expect.poll(() => answers.length, { timeout: 10_000, interval: 5 }).toBe(2);
  expect(await wide.get()).toMatchObject({ parallelism: 2, lag: 6 });
  await wide.upsert({ parallelism: 1 });
  for (const answer of answers.splice(0)) answer();
  // From now on one at a time, in order.
  const bodies: string[] = [];
  for (let count = 3; count <= 6; count++) {
    bodies.push((await rig.requestsTo("/wide", count)).at(-1)?.body ?? "");
    await expect.poll(async () => (await wide.get()).lag).toBe(7 - count);
    expect(answers).toHaveLength(1);
    answers.shift()?.();
  }
  expect(bodies).toEqual(["c", "d", "e", "f"]);
});

test("a queue whose parallelism is raised delivers more at once, while its first message is on its way", async () => {
  const growing = rig.client.queue({ queueName: "growing" });
  const answers: (() => void)[] = [];
  rig.answer = () => new Promise((resolve) => answers.push(() => resolve({})));
  for (const body of "abcd") await growing.enqueue({ url: `${rig.url}/growing`, body });
  await rig.requestsTo("/growing");
  await growing.upsert({ parallelism: 3 });
  const bodies = (await rig.requestsTo("/growing", 3)).map(({ body }) => body);
  expect(bodies.toSorted()).toEqual(["a", "b", "c"]);
  await growing.upsert({ parallelism: 4 });
  await rig.requestsTo("/growing", 4);
  for (const answer of answers) answer();
  await expect.poll(async () => (await growing.get()).lag).toBe(0);
});

test("a schedule is created with all of its headers, read, replaced, listed and deleted", async () => {
  const { schedules } = rig.client;
  const { scheduleId } = await schedules.create({
    scheduleId: "digest",
    destination: `${rig.url}/digest?kind=1`,
    cron: "CRON_TZ=Europe/Berlin 0 9 * * 1",
    body: JSON.stringify({ to: "team" }),
    headers: { "x-own": "1", authorization: "Bearer of the receiver" },
    method: "PUT",
    delay: "90s",
    retries: 2,
    retryDelay: "1000 * (1 + retried)",
    timeout: 7,
    callback: `${rig.url}/callback`,
    failureCallback: `${rig.url}/failure`,
    flowControl: { key: "digests", rate: 5, period: "1m" },
    label: ["weekly", "mail"],
    redact: { header: ["authorization"] },
  });
  expect(scheduleId).toBe("digest");
  const created = await schedules.get(scheduleId);
  expect(created).toEqual({
    scheduleId,
    cron: "CRON_TZ=Europe/Berlin 0 9 * * 1",
    createdAt: expect.any(Number),
    destination: `${rig.url}/digest?kind=1`,
    method: "PUT",
    header: {
      "content-type": ["application/json"],
      "x-own": ["1"],
      authorization: [expect.stringMatching(/^REDACTED:[0-9a-f]{64}$/)],
    },
    body: '{"to":"team"}',
    retries: 2,
    retryDelayExpression: "1000 * (1 + retried)",
    timeout: 7_000,
    delay: 90,
    callback: `${rig.url}/callback`,
    failureCallback: `${rig.url}/failure`,
    isPaused: false,
    flowControlKey: "digests",
    rate: 5,
    ratePerSecond: 5,
    period: 60,
    label: "weekly",
    labels: ["weekly", "mail"],
    nextScheduleTime: expect.any(Number),
  });
  expect(new Date(created.nextScheduleTime ?? 0).getUTCDay()).toBe(1);

  await schedules.pause({ schedule: scheduleId });
  expect(await schedules.get(scheduleId)).toMatchObject({ isPaused: true });
  await schedules.resume({ schedule: scheduleId });
  await schedules.create({ scheduleId, destination: rig.url, cron: "*/5 * * * *" });
  const { scheduleId: other } = await schedules.create({ destination: rig.url, cron: "@hourly" });
  expect(other).toMatch(/^scd_/);
  expect(await schedules.list()).toMatchObject([
    { scheduleId, cron: "*/5 * * * *", isPaused: false, createdAt: created.createdAt },
    { scheduleId: other },
  ]);
  for (const id of [scheduleId, other]) await schedules.delete(id);
  expect(await schedules.list()).toEqual([]);
});

test("a schedule that could never be published is refused when it is created", async () => {
  const create = (more: object) =>
    rig.client.schedules.create({ destination: rig.url, cron: "* * * * *", ...more });
  for (const [more, status, words] of [
    [{ cron: "every day" }, 400, "cron"],
    [{ cron: "CRON_TZ=Mars/Base * * * * *" }, 400, "time zone"],
    [{ cron: "0 0 31 2 *" }, 400, "occur at least once"],
    [{ destination: "http://10.1.2.3/" }, 400, "public host"],
    [{ destination: "no-group" }, 404, "URL group no-group not found"],
    [{ retryDelay: "process.exit()" }, 400, "Upstash-Retry-Delay"],
    [{ scheduleId: "a/b" }, 400, "Upstash-Schedule-Id"],
  ] as const)
    await expect(create(more), words).rejects.toEqual(
      expect.objectContaining({ status, message: expect.stringContaining(words) }),
    );
  await expect(rig.client.schedules.get("none")).rejects.toMatchObject({ status: 404 });
  await expect(rig.client.schedules.pause({ schedule: "none" })).rejects.toMatchObject({ status: 404 });
});
