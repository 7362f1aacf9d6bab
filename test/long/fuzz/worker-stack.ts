import { readFile, readdir } from "node:fs/promises";
import { Agent, request } from "node:http";
import { createClient } from "@redis/client";
import { startGateway } from "../../../src/local/index.ts";
import { startWorker } from "../../../tools/workerd/harness.ts";
import { startRedis } from "../../support/redis.ts";
import { type Answered, cronSecret, type Sent, type Stack, tokens } from "./stack.ts";

/** How long any request may take, ms. */
const DEADLINE = 10_000;

/** One Worker in workerd, in front of a gateway and its Redis. */
export interface WorkerStack extends Stack {
  /** The memory of workerd, bytes. */
  readonly memory: () => Promise<number>;
}

/** The `send` of the stack throws if no answer comes within 10 s. */
export async function openWorkerStack(): Promise<WorkerStack> {
  const redis = await startRedis();
  const gateway = await startGateway({ redisUrl: redis.url });
  const { server } = await startWorker("test/platforms/cloudflare/complete.toml", {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify(tokens),
    CRON_SECRET: cronSecret,
  });
  const { url } = await server.listen();
  const agent = new Agent({ keepAlive: true });
  const client = createClient({ url: redis.url, RESP: 2 });
  await client.connect();
  return {
    redisUrl: redis.url,
    send: (sent) => send(agent, url, sent),
    empty: async () => void (await client.flushAll()),
    memory: () => memoryOfChildren("workerd"),
    async close() {
      agent.destroy();
      client.destroy();
      await server.close();
      await gateway.close();
      await redis.stop();
    },
  };
}

function send(agent: Agent, url: URL, { method, path, headers, body }: Sent): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(DEADLINE);
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const outgoing = request(
      { agent, signal, host: url.hostname, port: url.port, method, path, headers: { ...headers, ...length } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    outgoing.on("error", (error) =>
      reject(signal.aborted ? new Error(`no answer within ${DEADLINE} ms`) : error),
    );
    outgoing.end(body);
  });
}

/** Resident memory of the processes of that name which this one started, bytes. */
async function memoryOfChildren(name: string): Promise<number> {
  let kilobytes = 0;
  for (const pid of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    // It may have ended meanwhile.
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const reported = (key: string) => new RegExp(`^${key}:\\s*(\\S+)`, "m").exec(status)?.[1];
    if (reported("Name") === name && reported("PPid") === String(process.pid))
      kilobytes += Number(reported("VmRSS"));
  }
  return kilobytes * 1024;
}
