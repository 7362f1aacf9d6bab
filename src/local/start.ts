// npm start: runs the local stack and the webhooks example on it. Ctrl-C ends everything.

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { messageOf } from "../errors.ts";
import { addresses, nextSteps } from "./stack/addresses.ts";
import { startChild } from "./stack/child.ts";
import { endSignal, Running } from "./stack/running.ts";
import { StackError } from "./stack/stack-error.ts";
import { type Stack, type StackOptions, startStack } from "./stack/stack.ts";

const usage = `npm start -- [options]

  --node         run the deployment on Node, and not as a Worker in workerd
  --exit         exit when the example has ended; the status is 1 if an event is unaccounted for
  --events N     use only the first N events
  --keep-data    keep the folder of this run, and its keys if REDIS_URL names a Redis
  -h, --help     show this help

Uses the ports 8787 (deployment) and 8079 (gateway) if they are free.
`;

const root = fileURLToPath(new URL("../..", import.meta.url));
const example = join(root, "examples/webhooks/run.ts");

async function main(): Promise<number> {
  const { node, exit, events, "keep-data": keepData, help } = readArguments();
  if (help) {
    console.log(usage);
    return 0;
  }
  const ended = Promise.race([endSignal(), parentEnded()]);
  const running = new Running();
  const folder = newFolder();
  let keep = true;
  try {
    const result = await Promise.race([
      startAll(running, { folder, runtime: node ? "node" : "workerd", events, keepData }),
      running.failed,
      ended,
    ]);
    keep = keepData;
    // A signal ended this process, or its parent ended.
    if (typeof result !== "object") return 130;
    keep ||= result.status !== 0;
    if (!exit) {
      console.log(nextSteps(result.stack));
      await Promise.race([running.failed, ended]);
    }
    return result.status;
  } finally {
    await running.stop();
    if (keep && readdirSync(folder).length > 0) {
      console.log(`\nData and logs of this run: ${relative(process.cwd(), folder)}`);
    } else rmSync(folder, { recursive: true, force: true });
  }
}

interface RunOptions extends Pick<StackOptions, "runtime"> {
  readonly folder: string;
  readonly events: string | undefined;
  readonly keepData: boolean;
}

/** Starts the stack and the example. Returns when the example has ended. */
async function startAll(running: Running, options: RunOptions): Promise<{ stack: Stack; status: number }> {
  const { folder, runtime, events, keepData } = options;
  let log = (line: string) => console.log(line);
  let logCron = log;
  const stack = await startStack(running, {
    folder,
    redisUrl: process.env["REDIS_URL"] || undefined,
    keepData,
    runtime,
    ports: { deployment: 8787, gateway: 8079 },
    log: (line) => log(line),
    cron: (line) => logCron(line),
  });
  console.log(addresses(stack));

  const child = startChild(
    process.execPath,
    [example, ...(events === undefined ? [] : ["--events", events])],
    {
      env: {
        ...process.env,
        SLUICE_URL: stack.url,
        SLUICE_ENQUEUE_TOKEN: stack.tokens.enqueue,
        SLUICE_CONSUME_TOKEN: stack.tokens.consume,
        SLUICE_ADMIN_TOKEN: stack.tokens.all,
        UPSTASH_REDIS_REST_URL: stack.gateway.url,
        UPSTASH_REDIS_REST_TOKEN: stack.gateway.token,
        WEBHOOKS_FOLDER: folder,
      },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    },
  );
  running.add(() => child.stop());
  // The example draws on the terminal, so it shows the lines of the stack.
  logCron = log = (line) => child.process.connected && child.process.send({ log: line });
  const { status, description } = await child.ended;
  log = (line) => console.log(line);
  // A line every minute would be noise while the stack stays up.
  logCron = () => {};
  if (status === null) throw new StackError(`the example ${description}`);
  return { stack, status };
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        node: { type: "boolean", default: false },
        exit: { type: "boolean", default: false },
        events: { type: "string" },
        "keep-data": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.events !== undefined && !/^[1-9]\d{0,5}$/.test(values.events)) {
      throw new Error(`--events must be a whole number from 1 to 999999, not ${values.events}`);
    }
    return { ...values, events: values.events };
  } catch (error) {
    throw new StackError(`${messageOf(error)}\n\n${usage}`);
  }
}

function newFolder(): string {
  const data = join(root, ".sluice");
  mkdirSync(data, { recursive: true });
  return mkdtempSync(join(data, "run-"));
}

/**
 * Resolves when the parent process has ended. npm and tools/start.mjs forward no signal if they are killed.
 */
async function parentEnded(): Promise<void> {
  const parent = process.ppid;
  while (process.ppid === parent) await sleep(500, undefined, { ref: false });
}

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error instanceof StackError ? `sluice: ${error.message}` : error);
    process.exit(1);
  },
);
