import type { RespClusterOptions } from "../../src/transports/resp.ts";
import { hashSlot } from "../../src/transports/hash-slot.ts";
import type { TestCluster } from "../support/redis-cluster.ts";
import { startProxy, type Proxy } from "./proxy.ts";

/** Proxies in front of the members of a cluster. */
export interface ProxiedCluster {
  /** What makes a transport reach each member through its proxy. */
  readonly options: Pick<RespClusterOptions, "nodes" | "natMap">;
  readonly proxies: readonly Proxy[];
  /** In front of the master that has a key. */
  proxyOf(key: string): Promise<Proxy>;
  stop(): Promise<void>;
}

export async function startProxies(cluster: TestCluster): Promise<ProxiedCluster> {
  const members = cluster.members.map(({ port }) => port);
  const proxies = await Promise.all(members.map((port) => startProxy(port)));
  const to = proxies.map(({ url }) => ({ host: "127.0.0.1", port: Number(new URL(url).port) }));
  return {
    options: {
      nodes: proxies.map(({ url }) => url),
      natMap: Object.fromEntries(members.map((port, i) => [`127.0.0.1:${port}`, to[i]!])),
    },
    proxies,
    async proxyOf(key) {
      const { port } = await cluster.masterOf(hashSlot(key));
      return proxies[members.indexOf(port)] as Proxy;
    },
    stop: async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))),
  };
}
