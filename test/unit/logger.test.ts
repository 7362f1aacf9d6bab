import { expect, onTestFinished, test, vi } from "vitest";
import { logTo } from "../../src/log/log-to.ts";
import {
  alertChanged,
  attemptFailed,
  cronFailed,
  drainBegan,
  drained,
  requestFailed,
  swept,
  wakeFailed,
} from "../../src/log/lines.ts";
import type { LogLevel, LogLine, LoggerOption } from "../../src/log/logger.ts";

const levels = ["debug", "info", "warn", "error"] as const;

/** One line of each level. */
const lines = [
  drainBegan("emails"),
  drained("emails", { completed: 2 }),
  wakeFailed("emails", new Error("HTTP 503")),
  cronFailed(new Error("Redis did not answer")),
];

/** What the console is called with. */
function onConsole() {
  const calls: [LogLevel, ...unknown[]][] = [];
  for (const level of levels) {
    const spy = vi.spyOn(console, level).mockImplementation((...words) => void calls.push([level, ...words]));
    onTestFinished(() => spy.mockRestore());
  }
  return calls;
}

/** What a logger gets. */
function loggerInto(calls: [LogLevel, object][]) {
  const [debug, info, warn, error] = levels.map((level) => (line: object) => void calls.push([level, line]));
  return { debug, info, warn, error } as Exclude<LoggerOption, string>;
}

const asJson: [LogLevel, string][] = [
  ["debug", '{"drain":"emails","began":true}'],
  ["info", '{"drain":"emails","completed":2}'],
  ["warn", '{"wake":"emails","failed":"HTTP 503"}'],
  ["error", '{"cron":"Redis did not answer"}'],
];

test.each<[LoggerOption | undefined, number]>([
  ["debug", 0],
  ["info", 1],
  [undefined, 1],
  ["warn", 2],
  ["error", 3],
  ["silent", 4],
])("the level %s writes lines of JSON to the console from that level on", (logger, from) => {
  const calls = onConsole();
  lines.forEach(logTo(logger));
  expect(calls).toEqual(asJson.slice(from));
});

test("a logger gets each line as one object of its own, on its level, with a message", () => {
  const calls: [LogLevel, object][] = [];
  const log = logTo(loggerInto(calls));
  const attempt = { queue: "emails", task: "a", attempt: 1, failed: "Error: no", ranFor: 3, next: "retry" };
  const request = { instance: "urn:uuid:1", code: "internal", method: "GET", route: undefined };
  const more: LogLine[] = [
    swept({ promoted: 1 }, true),
    swept({ reclaimed: 1 }, false),
    attemptFailed({ ...attempt, stack: undefined }),
    alertChanged("stuck", "emails", true, "nothing was taken"),
    requestFailed({ ...request, error: "a text" }),
  ];
  [...lines, ...more].forEach(log);
  expect(calls).toStrictEqual([
    ["debug", { message: "drain emails", drain: "emails", began: true }],
    ["info", { message: "drain emails", drain: "emails", completed: 2 }],
    ["warn", { message: "wake emails HTTP 503", wake: "emails", failed: "HTTP 503" }],
    ["error", { message: "cron Redis did not answer", cron: "Redis did not answer" }],
    ["debug", { message: "sweep", sweep: { promoted: 1 } }],
    ["info", { message: "sweep", sweep: { reclaimed: 1 } }],
    ["warn", { message: "queue emails Error: no", ...attempt }],
    [
      "error",
      {
        message: "alert stuck nothing was taken",
        alert: "stuck",
        queue: "emails",
        state: "firing",
        text: "nothing was taken",
      },
    ],
    [
      "error",
      {
        message: "instance urn:uuid:1 string",
        instance: "urn:uuid:1",
        code: "internal",
        method: "GET",
        error: "string",
      },
    ],
  ]);
});

test("keeps the `this` of a logger", () => {
  class Counting {
    count = 0;
    debug = () => {};
    info() {
      this.count++;
    }
    warn = () => {};
    error = () => {};
  }
  const logger = new Counting();
  lines.forEach(logTo(logger));
  expect(logger.count).toBe(1);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("disk full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("disk full"))],
])("a line goes to the console if the logger %s", async (_, error) => {
  const calls = onConsole();
  lines.forEach(logTo({ ...loggerInto([]), error }));
  await expect.poll(() => calls).toEqual(asJson.slice(3));
});

test.each([null, 3, "verbose", {}, { info: () => {} }, () => {}])("refuses the logger %o", (logger) => {
  expect(() => logTo(logger as never)).toThrow(
    expect.objectContaining({
      code: "invalid_argument",
      path: "logger",
      message:
        "logger must be debug, info, warn, error or silent; or have the first four as methods, as console",
    }),
  );
});
