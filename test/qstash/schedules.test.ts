// The schedules of QStash, with its own client.
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

const rig = useQStash();

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
