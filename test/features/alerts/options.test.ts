import { describe, expect, test } from "vitest";
import { defineAlerts, slack, webhook } from "../../../src/features/alerts/index.ts";
import { loose } from "../../support/refusing.ts";

const rule = (given: object) => () => defineAlerts({ rules: [loose(given)] });
const when = (given: object) => rule({ when: given });
const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const url = "https://example.com/alerts";
const valid = { when: { pending: { above: 1 } } };
const at = "alerts.rules[0]";

describe("an invalid option is refused with its path, and what is allowed", () => {
  test.each<[message: string, run: () => unknown]>([
    ["alerts.rules must be an array of at most 100 items", () => defineAlerts(loose({}))],
    ["alerts.rules must have at least one rule", () => defineAlerts({ rules: [] })],
    [
      "alerts.rule is an unknown option; expected one of rules, send, dashboardUrl",
      () => defineAlerts(loose({ rule: [] })),
    ],
    [`${at} must be an object`, rule(loose("deadLetters"))],
    [`${at}.wen is an unknown option; expected one of name, queues, when, for, window`, rule({ wen: {} })],
    [`${at}.when must be an object`, rule({})],
    [
      `${at}.when.deadLetters is an unknown option; expected one of newDeadLetters, oldestAge, pending, failureRate, noConsumer, finding`,
      when({ deadLetters: {} }),
    ],
    [
      `${at}.when must have a condition; it can be newDeadLetters, oldestAge, pending, failureRate, noConsumer, finding`,
      when({}),
    ],
    [
      `${at}.when must have exactly one condition; it can be newDeadLetters, oldestAge, pending, failureRate, noConsumer, finding`,
      when({ newDeadLetters: {}, pending: { above: 1 } }),
    ],
    [
      `${at}.when.newDeadLetters.above must be a whole number from 0 to 9007199254740991`,
      when({ newDeadLetters: { above: -1 } }),
    ],
    [`${at}.when.newDeadLetters.within must be a duration of 60000`, when({ newDeadLetters: { within: 5 } })],
    [`${at}.when.oldestAge must be an object`, when({ oldestAge: "5m" })],
    [`${at}.when.oldestAge.above must be a duration of 1000`, when({ oldestAge: {} })],
    [`${at}.when.pending.above must be a whole number`, when({ pending: {} })],
    [
      `${at}.when.failureRate.above must be a number from 0 to below 1, such as 0.2 for 20 %`,
      when({ failureRate: { above: 20 } }),
    ],
    [
      `${at}.when.failureRate.atLeast must be a whole number from 1`,
      when({ failureRate: { above: 0.1, atLeast: 0 } }),
    ],
    [
      `${at}.when.failureRate.within must be a duration of 60000 to 1800000`,
      when({ failureRate: { above: 0.1, within: "1h" } }),
    ],
    [
      `${at}.when.failureRate.within must be whole minutes, such as "5m"`,
      when({ failureRate: { above: 0.1, within: "90s" } }),
    ],
    [
      `${at}.when.finding.code must be one or more of unreadable, broken_entries`,
      when({ finding: { code: "x" } }),
    ],
    [`${at}.when.finding.code must be one or more of unreadable`, when({ finding: { code: [] } })],
    [`${at}.when.finding.code must be an array`, when({ finding: { code: 1 } })],
    [`${at}.when.finding.status must be "warning" or "problem"`, when({ finding: { status: "ok" } })],
    [`${at}.when.finding.after must be a duration of 60000 to 3540000`, when({ finding: { after: "1h" } })],
    [
      `${at}.queues must not be set, because the rule watches the database`,
      rule({ queues: "emails", when: { finding: { code: "clock_off" } } }),
    ],
    [`${at}.when.noConsumer.for must be a duration of 60000`, when({ noConsumer: { for: "1s" } })],
    [
      `${at}.for must not be set; set ${at}.when.noConsumer.for instead`,
      rule({ when: { noConsumer: {} }, for: "1m" }),
    ],
    [`${at}.for must be a duration of 0`, rule({ ...valid, for: "soon" })],
    [`${at}.window must be a duration of 60000`, rule({ ...valid, window: 0 })],
    [
      `${at}.queues must be a pattern of queue names, such as emails, emails-* or *`,
      rule({ ...valid, queues: "a b" }),
    ],
    [`${at}.name must be 1 to 100 characters`, rule({ ...valid, name: "a\nb" })],
    [
      'alerts.rules[1].name must differ from the name of alerts.rules[0]; both are "pending"',
      () => defineAlerts({ rules: [valid, { when: { pending: { above: 2 } } }] }),
    ],
    ["alerts.send must be an array", () => defineAlerts({ rules: [valid], send: loose("slack") })],
    [
      "alerts.send[0] must be webhook(…), slack(…) or a function that takes an alert",
      () => defineAlerts({ rules: [valid], send: [loose({ url })] }),
    ],
    [
      "alerts.send must be an array of at most 10 items",
      () => defineAlerts({ rules: [valid], send: () => loose(undefined) }).connect({}),
    ],
    [
      "alerts.dashboardUrl must be a URL that begins with https:// or http://",
      () => defineAlerts({ rules: [valid], dashboardUrl: "/dashboard" }),
    ],
    ["slack.url must be a URL that begins with https:// or http://", () => slack({ url: undefined })],
    ["slack.secret is an unknown option", () => slack(loose({ url, secret }))],
    ["slack.timeout must be a duration of 100 to 10000 ms", () => slack({ url, timeout: "1m" })],
    ["slack.fetch must be a function", () => slack({ url, fetch: loose(1) })],
    [
      "webhook.url must be a URL without user and password",
      () => webhook({ url: "https://a:b@example.com", secret }),
    ],
    [
      "webhook.secret must be whsec_ followed by 24 to 64 bytes in base64, or up to 5 of them",
      () => webhook({ url, secret: undefined }),
    ],
    ["webhook.secret must be whsec_", () => webhook({ url, secret: [secret, "hidden"] })],
    ["webhook.secret must be whsec_", () => webhook({ url, secret: [] })],
  ])("%s", (message, run) => {
    let error: unknown;
    try {
      run();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "invalid_argument", path: message.split(" ")[0] });
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("hidden");
  });
});
