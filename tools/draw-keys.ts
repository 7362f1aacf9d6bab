/**
 * Draws the pictures of docs/how-it-works.md: what a queue has in Redis after each step of a task. The queue is a real
 * one, on the embedded store. `npm run draw-keys -- --check` compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { Queue, sweep } from "../src/index.ts";
import { startGateway } from "../src/local/index.ts";
import { upstash } from "../src/transports/upstash.ts";

/** What a key has: its name without the prefix of the queue, and a line for each entry. */
interface Key {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The keys after a step. */
interface Frame {
  readonly title: string;
  readonly keys: readonly Key[];
}

const START = 1_700_000_000_000;
const STATES: Readonly<Record<string, string>> = { w: "working", c: "completed", "": "waits" };

const gateway = await startGateway();
const { database: _, ...transport } = upstash(gateway);

async function redis(...command: [string, ...string[]]): Promise<string[]> {
  const [outcome] = await transport.send([command]);
  if (!outcome || !("reply" in outcome)) throw new Error(JSON.stringify(outcome));
  return (outcome.reply as string[]) ?? [];
}

/** A time as the distance from the first step. */
function since(time: string): string {
  const seconds = Math.round((Number(time) - START) / 1_000);
  return seconds < 120 ? `+${seconds} s` : `+${Math.round(seconds / 60)} min`;
}

const pairs = (flat: readonly string[]) =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""] as const);

/** The fields of the hash that show tasks: a fixed record with its payload, and a changing one with its state. */
function recordsOf(fields: readonly (readonly [string, string])[]): string[] {
  const shown = fields.filter(([field]) => !field.startsWith("~"));
  return shown.map(([field, record]) => {
    if (!field.startsWith("."))
      return `${field}: ${record.split("\n")[1]?.slice(1) ?? "no payload any more"}`;
    const [, , , attempts, , state = ""] = record.split("\n")[0]?.split(";") ?? [];
    return `${field}: ${STATES[state] ?? state}, attempt ${attempts}`;
  });
}

async function frame(queue: string, title: string): Promise<Frame> {
  const key = (part: string) => `sluice:{${queue}}:${part}`;
  const times = async (part: string) =>
    pairs(await redis("ZRANGE", key(part), "0", "-1", "WITHSCORES")).map(([id, at]) => `${id}: ${since(at)}`);
  const keys = [
    { name: "pending", lines: await redis("LRANGE", key("pending"), "0", "-1") },
    { name: "delayed", lines: await times("delayed") },
    { name: "working", lines: await times("working") },
    { name: "expiry", lines: await times("expiry") },
    { name: "tasks", lines: recordsOf(pairs(await redis("HGETALL", key("tasks")))) },
  ];
  return { title, keys: keys.filter(({ lines }) => lines.length > 0) };
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The frames side by side, each key as a box. */
function draw(frames: readonly Frame[]): string {
  const [width, line, gap] = [268, 17, 10];
  const heights = frames.map(({ keys }) =>
    keys.reduce((sum, { lines }) => sum + 26 + lines.length * line + gap, 44),
  );
  const height = Math.max(...heights);
  const columns = frames.map(({ title, keys }, column) => {
    const x = 8 + column * (width + 16);
    let y = 36;
    const boxes = keys.map(({ name, lines }) => {
      const top = y;
      y += 26 + lines.length * line + gap;
      return [
        `<rect x="${x}" y="${top}" width="${width}" height="${24 + lines.length * line}" rx="4" fill="#fff" stroke="#00658a"/>`,
        `<text x="${x + 10}" y="${top + 18}" font-weight="600" fill="#00658a">${name}</text>`,
        ...lines.map(
          (text, i) => `<text x="${x + 10}" y="${top + 36 + i * line}" class="m">${escaped(text)}</text>`,
        ),
      ].join("\n");
    });
    return [`<text x="${x}" y="22" font-size="13">${escaped(title)}</text>`, ...boxes].join("\n");
  });
  const whole = 16 + frames.length * (width + 16) - 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    "<style>.m { font: 11px ui-monospace, monospace }</style>",
    `<rect width="${whole}" height="${height}" fill="#f4f7f9"/>`,
    ...columns,
    "</svg>",
    "",
  ].join("\n");
}

let now = START;
const open = (name: string) => new Queue<object>(name, { transport, now: () => now });

/** From the enqueue to the result. */
async function life(): Promise<Frame[]> {
  const emails = open("emails");
  await emails.enqueue({ to: "ada@example.com" }, { id: "welcome-1" });
  await emails.enqueue({ to: "bob@example.com" }, { id: "remind-2", delay: "10m" });
  const enqueued = await frame("emails", "1. two enqueues, one with a delay");
  const [task] = await emails.dequeue();
  const leased = await frame("emails", "2. a dequeue leases one for 5 min");
  now += 2_000;
  await task?.complete("sent");
  return [enqueued, leased, await frame("emails", "3. after 2 s it is completed")];
}

/** Of a consumer that dies. */
async function crash(): Promise<Frame[]> {
  now = START;
  const reports = open("reports");
  await reports.enqueue({ report: 7 }, { id: "report-7" });
  const [task] = await reports.dequeue({ lease: "1m" });
  const leased = await frame("reports", "1. a consumer leases a task, and dies");
  now += 61_000;
  await sweep(transport, { now: () => now });
  const back = await frame("reports", "2. the next sweep takes the lease back");
  const [again] = await reports.dequeue({ lease: "1m" });
  await again?.requeue({ delay: "30s" });
  await task?.complete();
  return [leased, back, await frame("reports", "3. its second attempt fails, and waits")];
}

const pictures = { "keys-life": draw(await life()), "keys-crash": draw(await crash()) };
await gateway.close();

for (const [name, picture] of Object.entries(pictures)) {
  const file = new URL(`../docs/pictures/${name}.svg`, import.meta.url);
  if (!process.argv.includes("--check")) writeFileSync(file, picture);
  else if (readFileSync(file, "utf8") !== picture) {
    console.error(`docs/pictures/${name}.svg is not current: run \`npm run draw-keys\`.`);
    process.exitCode = 1;
  }
}
