import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import * as operate from "../../src/queue/redis/operate-scripts.ts";
import * as repair from "../../src/queue/redis/repair-scripts.ts";
import * as schedules from "../../src/queue/redis/schedule-scripts.ts";
import * as sweep from "../../src/queue/redis/sweep-scripts.ts";
import * as tasks from "../../src/queue/redis/task-scripts.ts";
import { keyLocking } from "../../src/queue/redis/transport.ts";

/** A proxy between the Worker and Redis that sets the time of scripts. */
export interface Clock {
  readonly url: string;
  /** Epoch ms; undefined for Redis's own time. */
  now: number | undefined;
  /** Whether the last enqueue looked at the queue's settings. */
  looked: boolean;
  readonly close: () => void;
}

/**
 * The first argument of most scripts is the time, if a test sets it. The proxy fills it in for every call
 * that leaves it empty, so that a model can predict the answer to the millisecond.
 */
export async function startClock(gatewayUrl: string): Promise<Clock> {
  const { hostname: host, port } = new URL(gatewayUrl);
  const agent = new Agent({ keepAlive: true });
  const clock = { now: undefined as number | undefined, looked: false };
  const forward = async (incoming: IncomingMessage) => {
    const body = timed(await buffer(incoming), clock);
    const { method, url: path, headers } = incoming;
    const outgoing = request({
      agent,
      host,
      port,
      method,
      path,
      headers: { ...headers, "content-length": body.length },
    });
    outgoing.end(body);
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    return answer;
  };
  const server = createServer((incoming, outgoing) => {
    forward(incoming).then(
      (answer) => answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers)),
      () => outgoing.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(clock, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  });
}

/** How calls name a script: by its text, or by its hash. */
function namesOf(source: string): string[] {
  return [source, keyLocking + source].flatMap((text) => [
    text,
    createHash("sha1").update(text).digest("hex"),
  ]);
}

const namesOfEnqueue = new Set(namesOf(tasks.enqueueScript.script.source));
/** The scripts whose first argument is the time. */
const namesOfTimed = new Set(
  Object.values({ ...tasks, ...operate, ...sweep, ...schedules, ...repair })
    .filter((value) => typeof value === "object")
    .filter(({ args }) => args[0] === "testNow")
    .flatMap(({ script }) => namesOf(script.source)),
);

/** The same commands, with the time in the scripts that have none. */
function timed(body: Buffer, clock: Pick<Clock, "now" | "looked">): Buffer {
  if (clock.now === undefined || body.length === 0) return body;
  const commands = JSON.parse(body.toString()) as unknown[];
  for (const command of Array.isArray(commands[0]) ? commands : [commands]) {
    if (!Array.isArray(command) || !/^EVAL(SHA)?$/i.test(String(command[0]))) continue;
    const first = 3 + Number(command[2]);
    const name = String(command[1]);
    if (namesOfTimed.has(name) && command[first] === "") command[first] = String(clock.now);
    if (namesOfEnqueue.has(name)) clock.looked = command[first + 1] === "1";
  }
  return Buffer.from(JSON.stringify(commands));
}
