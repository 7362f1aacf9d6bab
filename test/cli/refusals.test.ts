import { expect, test } from "vitest";
import { useCli } from "./rig.ts";

// Command lines that change nothing: they are refused, or what they name is not there. A text is split at its spaces.

const rig = useCli();

const OUTCOME = "give one of --complete, --reject, --requeue or --extend";

test.each<[line: string | readonly string[], message: string, code?: number]>([
  ["nope", "sluice: unknown command 'nope'\nSee `sluice --help`.\n"],
  ["help nope", "sluice: unknown command 'nope'\nSee `sluice --help`.\n"],
  ["ls emails --nope", "sluice: unknown option '--nope'\nSee `sluice ls --help`.\n"],
  ["redrive emails --dryrun", "unknown option '--dryrun'\n(Did you mean --dry-run?)"],
  ["ls", "sluice: <queue> is required\nSee `sluice ls --help`.\n"],
  ["show emails", "sluice: <id> is required"],
  ["cancel emails", "sluice: <ids> is required"],
  ["ls emails reports", "sluice: too many arguments for 'ls'. Expected 1 argument but got 2."],
  ["ls emails --limit", "sluice: --limit <number> needs a value"],
  ["ls emails --limit 0", "sluice: --limit must be a whole number of at least 1"],
  [
    "redrive emails --rate Infinity",
    "sluice: --rate must be <number>/<duration>, such as 5/1s, or a number a second",
  ],
  ["redrive emails --rate 1/0s", "sluice: --rate must be <number>/<duration>"],
  [
    "redrive emails --rate 0",
    "sluice: --rate must be <number>/<duration>, such as 5/1s, or a number a second",
  ],
  ["redrive emails --reason cancelled", "sluice: --reason must be one or more of rejected"],
  ["redrive emails --reason nope", "must be one or more of rejected, attempts_exhausted, lease_expired"],
  ...["--limit 1", "--rejected", "--text x"].map((option): [string, string] => [
    `redrive emails a ${option}`,
    "ids must not be given with a filter, --limit or --rejected",
  ]),
  ["redrive emails --rejected --reason rejected", "--rejected must not be given with --reason"],
  ["dead emails --since 25:00", "sluice: --since must be a duration ago, such as 2h, or a local time"],
  ["dead emails --since 1700000000", "sluice: --since must be a duration ago"],
  ["stats emails --minutes 61", "sluice: --minutes must be a whole number from 1 to 60\n"],
  ["doctor --after 5", "sluice: --after must be a duration of 1000 to 3540000 ms"],
  [
    "doctor emails,imports",
    "sluice: <queues> must be a pattern of queue names, such as emails, emails-* or *; several have spaces between them\n",
  ],
  ["stats emails --watch soon", "sluice: --watch must be a duration"],
  ["stats emails --watch 0", "sluice: --watch must be at least 100ms"],
  // What is behind the = may be a secret.
  ["queues --token=s3cret", "sluice: unknown option '--token'\nSee `sluice queues --help`.\n"],
  ["completions ksh", "sluice: <shell> must be one of bash, zsh, fish"],
  ["purge emails --state pending", "add --yes"],
  ["delete emails", "add --yes"],
  ["purge emails --yes", "--state <state> is required"],
  ["purge emails --yes --state working", "--state must be one of"],
  ["purge emails --yes --state pending --text x", "group must be given with a filter of pending tasks"],
  ["sweep --queue emails", "--queue"],
  ["partitions emails x", "sluice: <number> must be a whole number from 1 to 62"],
  ["partitions emails 0", "sluice: <number> must be a whole number from 1 to 62"],
  ["partitions emails 63", "sluice: <number> must be a whole number from 1 to 62"],
  ["deploy /nope/queues.ts", "sluice: /nope/queues.ts does not exist\n"],
  [
    "export emails --state gone",
    "--state must be one or more of pending, delayed, blocked, working, completed, rejected, dead",
  ],
  [
    "ls emails --state gone",
    "--state must be one of pending, delayed, blocked, working, completed, rejected, dead",
  ],
  ["dead --limit 3", "sluice: --limit needs a queue"],

  // Names.
  ...[
    ...`ls ../x; ls ..; pause .; stats a/b; tail x%2F..%2Fy; settings emails --group ..; schedules emails --pause ..;
    schedules emails --remove ..; workers emails --fail ..; show emails ..; enqueue ../x 1`.split(/;\s+/),
    ["purge", "a b", "--state", "completed", "--yes"],
    ["show", "emails", "a b"],
    ["cancel", "emails", "a\nb"],
    ["cancel", "emails", "task", "a b"],
    ["redrive", "emails", "\u001b[31m"],
    ["pull", ""],
  ].map((line): [string | string[], string] => [line, "must be 1 to 128"]),

  [
    "settings emails workers=1",
    "there is no setting workers; the names are maxWorking, rate, maxPending, events",
  ],
  ["settings emails maxworking=1", "sluice: there is no setting maxworking; did you mean maxWorking?\n"],
  ["settings emails paused=on", "sluice: use sluice pause emails in place of paused=on\n"],
  ["settings emails paused=off", "sluice: use sluice resume emails in place of paused=off\n"],
  ["settings emails paused=5m", "sluice: use sluice pause emails --for 5m in place of paused=5m\n"],
  [
    "settings emails --group g paused=soon",
    "sluice: paused=soon must be paused=on, paused=off or paused=<duration>, such as paused=5m\n",
  ],
  ["settings emails weight=2", "sluice: weight is a setting of a group: add --group <group>\n"],
  ["settings emails maxWorking", "maxWorking must be <name>=<value>"],
  ["settings emails maxWorking=-1", "maxWorking=-1 must be maxWorking=<number> or maxWorking=none"],
  ["settings emails maxWorking=0", "maxWorking must be"],
  ["settings emails rate=x", "sluice: rate must be <number>/<duration>, such as 5/1s, or a number a second"],
  ["settings emails rate=5/1x", "sluice: rate must be <number>/<duration>"],
  ["settings emails events=true", "events=true must be events=on or events=off"],
  ["settings emails --group g maxPending=1", "maxPending is a setting of the queue: leave out --group"],

  ["enqueue emails {", "<payload> must be JSON; a text has double quotes"],
  ["enqueue emails", "give a payload, --file <file>, or JSON lines from a pipe"],
  ["enqueue emails 1 --file x", "--file and --resume are for JSON lines; leave out the payload"],
  ["enqueue emails --id x --file x", "--id is for one payload"],
  ["enqueue emails --file /nope/x", "--file /nope/x cannot be read"],
  ["enqueue emails --file /tmp", "--file /tmp cannot be read: it is a folder"],
  ["enqueue emails 1 --priority 10", "--priority must be a whole number from 0 to 9"],
  ["enqueue emails 1 --delay 1x", "--delay must be a duration"],
  [["enqueue", "emails", "1", "--id", "a b"], "sluice: --id must be 1 to 128 visible ASCII characters"],
  ["enqueue emails 1 --delay 1m --at 09:00", "sluice: --at must not be given with delay"],
  ...["2h", "25:00", "1700000000", "tomorrow", "2026-13-40"].map((at): [string, string] => [
    `enqueue emails 1 --at ${at}`,
    "--at must be a local time, such as 09:00 or 2026-11-24T09:00",
  ]),

  ["pull emails --wait 2m", "wait"],
  ["pull emails --max 101", "max"],
  ["settle emails r", OUTCOME],
  ["settle emails r --complete --reject", OUTCOME],
  ["settle emails --error x", OUTCOME],
  ["settle emails r --complete --error x", "--error must not be given with --complete"],
  ["settle emails r --reject --delay 1s", "--delay must not be given with --reject"],
  ["settle emails r --complete --result {", "--result must be JSON"],
  ["settle emails r --complete", "receipt must be"],
  ["settle emails", "give receipts, or lines of JSON from a pipe"],
  ["settle emails --complete", "give receipts"],

  ["show emails nope", "sluice: emails has no task nope; its record may have expired\n", 1],
  ["show emails a/b", "sluice: emails has no task a/b; its record may have expired\n", 1],
  ["schedules emails --remove digest", "sluice: emails has no schedule digest\n", 1],
  [
    "workers emails --fail mailr",
    "has no worker mailr; perhaps its tasks were taken back already. To list all:",
    1,
  ],
  ["tail emails", "emails publishes no events; switch them on: sluice settings emails events=on\n", 1],
])("sluice %j is refused, and changes nothing", async (line, message, exitCode = 2) => {
  await rig.queue().enqueue(1, { id: "task" });
  const before = await rig.raw(["DEBUG", "DIGEST"]);
  const { code, out, err } = await rig.run(typeof line === "string" ? line.split(" ") : line);
  expect([code, out]).toEqual([exitCode, ""]);
  expect(err).toContain(message);
  expect(err).not.toContain("s3cret");
  expect(await rig.raw(["DEBUG", "DIGEST"])).toEqual(before);
});

test.each([
  ["1\n", "line 1 must be an object with a payload"],
  ['{"id":"a"}\n', "line 1 has no payload"],
  ['{"payload":1}\n{"payload":1,"pri":1}\n', "line 2 has the unknown field pri; expected payload, encoding"],
  ['{"payload":"%%","encoding":"base64"}\n', "line 1 has an encoding; then its payload must be base64"],
  ['{"payload":1,"encoding":"hex"}\n', "line 1 has an encoding"],
  ['{"payload":1,"id":"a b"}\n', "line 1: id must be 1 to 128 visible ASCII characters"],
  ['{"payload":1,"priority":10}\n', "line 1: priority must be"],
  ['{"payload":1,"at":"soon"}\n', "line 1: at must be"],
])("import of %j enqueues nothing, and ends with 1", async (input, message) => {
  const { code, out, err } = await rig.piping(input, "import", "emails");
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/^No line is enqueued\.\n/);
  expect(err).toContain(message);
  expect((await rig.sluice("queues")).rows).toEqual([]);
});
