import { databases, Queue } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import type { Command, Transport } from "../../src/kernel/transport.ts";
import { linked } from "../../src/features/linked/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { type Proxy, startProxy } from "../transports/proxy.ts";
import { sharedRedis, type SharedRedis } from "./shared-redis.ts";

/** How a queue reaches its databases. */
export const networks = ["upstash", "resp"] as const;

/** Whether a request may lease tasks. */
const mayLease = (commands: readonly Command[]) =>
  commands.some((command) => "script" in command && /dequeue/i.test(command.script.name));

/** Two Redis, and ways to them on which the replies to requests that lease tasks can be held back. */
export interface HeldReplies {
  /** The way to the first of them. */
  readonly url: string;
  /** A transport to the first so many of them, whose requests that lease tasks are counted. */
  transport(network: (typeof networks)[number], count: 1 | 2): Transport;
  /** The same without a hold. */
  direct(count: 1 | 2): Transport;
  /** How many requests were sent that may lease tasks. */
  leasing(): number;
  /** Holds back the reply to the next of them. */
  holdNext(): void;
  /** Holds back all replies from now on. */
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

export async function startHeldReplies(): Promise<HeldReplies> {
  const servers: SharedRedis[] = [await sharedRedis(), await sharedRedis()];
  const proxies: Proxy[] = [];
  const gateways: Gateway[] = [];
  for (const { port } of servers) {
    const proxy = await startProxy(port);
    proxies.push(proxy);
    gateways.push(await startGateway({ redisUrl: proxy.url }));
  }
  const tcp = proxies.map(({ url }) => resp(url));
  const past = servers.map(({ url }) => resp(url));
  const withoutMemory = ({ send }: Transport): Transport => ({ send });
  const joined = (transports: readonly Transport[], count: 1 | 2) =>
    count === 1 ? withoutMemory(transports[0]!) : databases(transports.map(withoutMemory));
  // The reply to the first copy of a script that Redis does not know would be held, and nothing be leased.
  const all = [...tcp, ...gateways.map((gateway) => upstash(gateway))];
  for (const transport of [...all, ...all.map(linked)]) {
    const queue = new Queue("known-scripts", { transport });
    await queue.dequeue();
    await queue.settleAndDequeue([{ receipt: "1.1.1.aaaaaaaaaaaaaaaa.none", outcome: "complete" }]);
  }
  let [leasing, isHeld] = [0, false];
  const hold = () => proxies.forEach((proxy) => void proxy.hold());
  return {
    url: proxies[0]?.url ?? "",
    transport(network, count) {
      const inner = joined(network === "resp" ? tcp : gateways.map((gateway) => upstash(gateway)), count);
      return {
        ...inner,
        send(commands, options) {
          if (!mayLease(commands)) return inner.send(commands, options);
          leasing++;
          if (isHeld) hold();
          isHeld = false;
          return inner.send(commands, options);
        },
      };
    },
    direct: (count) => joined(past, count),
    leasing: () => leasing,
    hold,
    holdNext: () => void (isHeld = true),
    release: () => proxies.forEach((proxy) => proxy.release()),
    async stop() {
      await Promise.all([...tcp, ...past].map((transport) => transport.close()));
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      await Promise.all(servers.map((redis) => redis.stop()));
    },
  };
}
