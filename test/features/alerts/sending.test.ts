import { Webhook } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import { slack, webhook, type Alert, type AlertRule } from "../../../src/features/alerts/index.ts";
import type { Transport } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";
import { alerting, type AlertSetup, MINUTE, queueOf, startReceiver } from "./rig.ts";

const rig = useRig();

const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const nextSecret = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const rules: readonly AlertRule[] = [{ when: { pending: { above: 0 } } }];

/** The rig's transport, which crashes at a pass's n-th write of alerts: after Redis has it, or before. */
function crashing(nth: number, when: "after" | "before"): Transport {
  let puts = 0;
  return {
    async send(commands, options) {
      const isPut = commands.some((one) => "script" in one && one.script.name === "putRecords");
      const crashes = isPut && ++puts === nth;
      if (crashes && when === "before") throw new Error("crashed");
      const outcomes = await rig.transport.send(commands, options);
      if (crashes) throw new Error("crashed");
      return outcomes;
    },
  };
}

/** A pending task, a webhook whose receiver gives these answers, and the alerts of a pass. */
async function firing(
  answers: readonly (number | "never")[],
  setup: AlertSetup & { timeout?: "100ms"; window?: "2h" } = {},
) {
  const receiver = await startReceiver();
  receiver.answers.push(...answers);
  const { timeout, window, send = [], ...others } = setup;
  const hook = webhook({ url: receiver.url, secret, timeout });
  const rule = { when: { pending: { above: 0 } }, window };
  const { minutes, lines } = alerting(rig, [rule], { send: [...send, hook], ...others });
  await rig.queue().enqueue(1);
  return { receiver, minutes, lines, failures: () => lines.filter((line) => "failed" in line) };
}

describe("a webhook", () => {
  test("is signed as Standard Webhooks specifies, with each secret", async () => {
    const receiver = await startReceiver();
    const send = [webhook({ url: receiver.url, secret: [secret, nextSecret] })];
    const { minutes } = alerting(rig, rules, { send });
    await rig.queue().enqueue({ password: "hidden" }, { id: "task-1" });
    await minutes(1);
    expect(receiver.requests).toHaveLength(1);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.requests;
    for (const one of [secret, nextSecret]) {
      expect(new Webhook(one).verify(body, headers)).toEqual({
        type: "alert.firing",
        timestamp: new Date(rig.now).toISOString(),
        data: {
          rule: "pending",
          queue: "emails",
          condition: "pending",
          value: 1,
          threshold: 0,
          startedAt: rig.now,
          measuredAt: rig.now,
          reminder: false,
          text: "emails has 1 task pending; the limit is 0",
        },
      });
    }
    expect(() => new Webhook(`whsec_${"A".repeat(32)}`).verify(body, headers)).toThrow(
      "No matching signature",
    );
    expect(headers["content-type"]).toBe("application/json");
  });

  test("is tried again at once after 500 and 429, with the same id", async () => {
    const { receiver, minutes, failures } = await firing([500, 429]);
    await minutes(3);
    expect(receiver.requests).toHaveLength(3);
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(failures()).toEqual([]);
  });

  test("is tried again by the next passes while its receiver is down, and no other receiver gets it twice", async () => {
    const got: Alert[] = [];
    const send = [(alert: Alert) => void got.push(alert)];
    const { receiver, minutes, failures } = await firing([404, 404], { send });
    await minutes(5);
    expect(got).toHaveLength(1);
    const id = got[0]?.id;
    expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([id, id, id]);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
    const from = `webhook ${new URL(receiver.url).host}`;
    const failed = { alert: "pending", queue: "emails", receiver: from, failed: "HTTP 404" };
    expect(failures()).toEqual([failed, failed]);
  });

  test("that an hour of passes could not send is given up, and the log says so", async () => {
    const { receiver, minutes, lines } = await firing(Array<number>(100).fill(400), { window: "2h" });
    await minutes(63);
    expect(receiver.requests).toHaveLength(60);
    const failed = "given up: receivers have not taken the alert for an hour";
    expect(lines.at(-1)).toEqual({ alert: "pending", queue: "emails", failed });
  });

  test.each([
    [410, "given up: HTTP 410", 1],
    [302, "HTTP 302: redirects are not followed", 3],
  ])("is not sent elsewhere or in vain after %i", async (status, failed, times) => {
    const { receiver, minutes, failures } = await firing([status, status, status]);
    await minutes(3);
    expect(receiver.requests).toHaveLength(times);
    expect(failures()[0]).toMatchObject({ failed });
  });

  test("that gets no response does not keep the pass beyond its time", async () => {
    const slow = { timeout: "100ms", budget: 1_000 } as const;
    const { receiver, minutes, lines } = await firing(["never", "never", "never"], slow);
    await minutes(1);
    expect(lines.at(-1)).toMatchObject({ failed: expect.stringContaining("no answer within 100 ms") });
    receiver.answers.length = 0;
    const before = receiver.requests.length;
    await minutes(2);
    expect(receiver.requests.length - before).toBe(1);
  });

  test("shows no URL or secret in the log if it cannot be reached", async () => {
    const url = "http://127.0.0.1:1/hidden-path";
    const { minutes, lines } = alerting(rig, rules, { send: [webhook({ url, secret })] });
    await rig.queue().enqueue(1);
    await minutes(1);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ failed: expect.stringContaining("a network error") });
    expect(JSON.stringify(lines)).not.toMatch(/hidden|whsec/);
  });
});

describe("a message to Slack", () => {
  test("escapes what names may have, and is one for all alerts of a pass", async () => {
    const receiver = await startReceiver();
    const send = [slack({ url: receiver.url })];
    const dashboardUrl = "https://queue.example.com/dashboard";
    const name = "<!channel> & <https://evil.example|here>";
    const hostile = [{ name, when: { pending: { above: 0 } } }];
    const { minutes } = alerting(rig, hostile, { send, dashboardUrl });
    await queueOf(rig, "mail-a").enqueue(1);
    await minutes(1);
    const since = Math.floor(rig.now / 1_000);
    const date = `<!date^${since}^{date_short_pretty} {time}|2023-11-14 22:14 UTC>`;
    const link = "<https://queue.example.com/dashboard#/queues/mail-a|Open the queue>";
    const escaped = "&lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;";
    expect(JSON.parse(receiver.requests[0]?.body ?? "")).toEqual({
      text: "mail-a has 1 task pending; the limit is 0",
      blocks: [
        {
          type: "section",
          text: {
            type: "mrkdwn",
            verbatim: true,
            text: `:red_circle: mail-a has 1 task pending; the limit is 0\nRule: ${escaped} · since ${date} · ${link}`,
          },
        },
      ],
      unfurl_links: false,
      unfurl_media: false,
    });
    await (await queueOf(rig, "mail-a").dequeue())[0]?.complete();
    await queueOf(rig, "mail-b").enqueue(1);
    await minutes(1);
    expect(receiver.requests).toHaveLength(2);
    const { text, blocks } = JSON.parse(receiver.requests[1]?.body ?? "");
    expect(text).toBe("2 alerts");
    expect(
      blocks.map((block: { text: { text: string } }) => block.text.text.split("\n")[0]).toSorted(),
    ).toEqual([
      ":large_green_circle: Resolved: mail-a has no tasks pending; the limit is 0",
      ":red_circle: mail-b has 1 task pending; the limit is 0",
    ]);
  });
});

describe("a function as a receiver", () => {
  test("gets the alert again if it throws, also if another one throws too", async () => {
    const send = ["one", "other"].map((name) => {
      const receive = vi.fn<(alert: Alert) => void>();
      receive.mockImplementationOnce(() => {
        throw new Error(`no network for ${name}`);
      });
      return receive;
    });
    const { minutes, lines } = alerting(rig, rules, { send });
    await rig.queue().enqueue(1);
    await minutes(3);
    for (const receive of send) expect(receive).toHaveBeenCalledTimes(2);
    const failed = lines.flatMap((line) => ("failed" in line ? [line["failed"]] : []));
    expect(failed).toEqual(["no network for one", "no network for other"]);
  });

  test("does not keep the pass beyond its time", async () => {
    const { pass, lines } = alerting(rig, rules, { send: [() => new Promise(() => {})], budget: 300 });
    await rig.queue().enqueue(1);
    await pass();
    expect(lines.at(-1)).toMatchObject({ failed: expect.stringMatching(/^did not end within \d+ ms$/) });
  });
});

describe("one alert, once", () => {
  test("of several deployments that sweep at once, with these rules or more, one sends (I3)", async () => {
    const more = [...rules, { name: "other", when: { pending: { above: 9 } } }];
    const all = [rules, rules, rules, more, more].map((each) => alerting(rig, each));
    await rig.queue().enqueue(1);
    await Promise.all(all.map(({ pass }) => pass()));
    expect(all.flatMap(({ news }) => news())).toEqual(["fires emails"]);
  });

  test("a second pass within 50 seconds does nothing", async () => {
    const { pass, news } = alerting(rig, rules);
    await pass();
    await rig.queue().enqueue(1);
    rig.now += 49_999;
    await pass();
    expect(news()).toEqual([]);
    rig.now += 1;
    await pass();
    expect(news()).toEqual(["fires emails"]);
  });

  test("a pass that crashes between its claim and sending is made up for by the next, with the same id", async () => {
    const broken = alerting(rig, rules, { transport: crashing(1, "after") });
    const next = alerting(rig, rules);
    await rig.queue().enqueue(1);
    await broken.pass();
    expect(broken.alerts).toEqual([]);
    expect(broken.lines).toEqual([{ alerts: "failed", failed: "crashed" }]);
    await next.minutes(1);
    expect(next.alerts).toMatchObject([{ type: "alert.firing", measuredAt: rig.now - MINUTE }]);
    await next.minutes(2);
    expect(next.alerts).toHaveLength(1);
  });

  test("a pass that crashes before it confirms has its alert sent a second time, with the same id", async () => {
    const broken = alerting(rig, rules, { transport: crashing(2, "before") });
    const next = alerting(rig, rules);
    await rig.queue().enqueue(1);
    await broken.pass();
    await next.minutes(2);
    expect(next.alerts).toHaveLength(1);
    expect(next.alerts[0]?.id).toBe(broken.alerts[0]?.id);
  });

  test("a recovery reaches also a receiver that has missed the alert", async () => {
    const { receiver, minutes } = await firing([400]);
    await minutes(1);
    await (await rig.queue().dequeue())[0]?.complete();
    await minutes(2);
    expect(receiver.requests.map(({ body }) => JSON.parse(body).type)).toEqual([
      "alert.firing",
      "alert.resolved",
    ]);
  });
});

describe("many queues", () => {
  const names = Array.from({ length: 100 }, (_, i) => `queue-${String(i).padStart(3, "0")}`);
  const fill = () => Promise.all(names.map((name) => queueOf(rig, name).enqueue(1)));

  test("a message to Slack has at most 40 alerts, and the others follow in a second one", async () => {
    const receiver = await startReceiver();
    receiver.answers.push(400);
    const { minutes } = alerting(rig, rules, { send: [slack({ url: receiver.url })] });
    await fill();
    await minutes(2);
    const blocks = receiver.requests.map(({ body }) => JSON.parse(body).blocks.length);
    expect(blocks).toEqual([40, 40, 40]);
  });

  test("at most 40 alerts are sent in a pass, none is lost, and a receiver that is down holds up no other", async () => {
    const alerts: string[] = [];
    let tries = 0;
    const failing = () => {
      tries++;
      throw new Error("down");
    };
    const { minutes } = alerting(rig, rules, { send: [failing, ({ queue }) => void alerts.push(queue)] });
    await fill();
    // As many that failed before are tried again.
    for (const sentAndTried of [
      [40, 40],
      [80, 120],
      [100, 180],
    ]) {
      await minutes(1);
      expect([alerts.length, tries]).toEqual(sentAndTried);
    }
    expect(alerts.toSorted()).toEqual(names);
  });

  test("more than a pass visits have their turn in the next passes, and no dead letter is missed", async () => {
    const { minutes, alerts } = alerting(rig, [{ when: { newDeadLetters: { within: "1m" } } }]);
    const names = Array.from({ length: 2_500 }, (_, i) => `queue-${i}`);
    const scored = names.flatMap((name) => [String(rig.now), name]);
    await rig.command("ZADD", "sluice:queues", ...scored);
    await minutes(3);
    const last = queueOf(rig, "queue-2499");
    await last.enqueue(1);
    await (await last.dequeue())[0]?.reject("no");
    await minutes(4);
    expect(alerts).toMatchObject([
      { type: "alert.firing", queue: "queue-2499" },
      { type: "alert.resolved", queue: "queue-2499" },
    ]);
  });
});

test("no Redis: one line in the log, and no error", async () => {
  const transport: Transport = { send: () => Promise.reject(new Error("unreachable")) };
  const { pass, lines } = alerting(rig, rules, { transport });
  await pass();
  expect(lines).toEqual([{ alerts: "failed", failed: "unreachable" }]);
});
