import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { Queue, type Transport } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { QUEUE, type Rig } from "../support/rig.ts";

/** The folder of the Python client. */
export const folder = fileURLToPath(new URL("../../examples/python/", import.meta.url));

/** The Python client and the library, on one queue through one gateway. */
export interface BothClients {
  readonly gateway: Gateway;
  readonly transport: Transport;
  readonly queue: Queue;
  /** Runs `python3` in the client's folder. Returns what it prints. */
  run(...args: string[]): Promise<string>;
  /** Runs code that has the client, a `redis` and a `queue`. Returns what it `report`s. */
  python(code: string): Promise<unknown>;
}

/** Registers the set-up with vitest. */
export function useBothClients(rig: Rig): BothClients {
  const both = {} as { -readonly [K in keyof BothClients]: BothClients[K] };
  beforeAll(async () => {
    both.gateway = await startGateway({ redisUrl: rig.redis.url });
  });
  beforeEach(() => {
    both.transport = upstash({ url: both.gateway.url, token: both.gateway.token });
    both.queue = new Queue(QUEUE, { transport: both.transport });
  });
  afterAll(() => both.gateway.close());

  both.run = async (...args) => {
    const env = {
      ...process.env,
      no_proxy: "127.0.0.1",
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8",
      UPSTASH_REDIS_REST_URL: both.gateway.url,
      UPSTASH_REDIS_REST_TOKEN: both.gateway.token,
    };
    const { stdout } = await promisify(execFile)("python3", args, {
      cwd: folder,
      env,
      maxBuffer: 10_000_000,
    });
    return stdout;
  };
  both.python = async (code) => {
    const head = `
      import json, os, time, urllib.request
      import sluice
      from sluice import *
      redis = Redis(os.environ["UPSTASH_REDIS_REST_URL"], os.environ["UPSTASH_REDIS_REST_TOKEN"])
      queue = Queue(redis, "${QUEUE}")
      def report(value): print(json.dumps(value))
    `;
    const output = await both.run("-c", unindented(head) + unindented(`\n${code}`));
    return output === "" ? undefined : JSON.parse(output);
  };
  return both;
}

function unindented(code: string): string {
  const indent = /^\n+( *)/.exec(code)?.[1] ?? "";
  return code.replaceAll(`\n${indent}`, "\n");
}
