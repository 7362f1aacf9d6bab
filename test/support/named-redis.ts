import { startProxy, type Proxy } from "../transports/proxy.ts";
import { command, offsetOf, until } from "./redis-cluster.ts";
import { startRedis, type TestRedis } from "./redis.ts";

/** A master and its replica behind one name, which leads new connections to the master. */
export interface NamedRedis {
  /** The URL of the name. */
  readonly url: string;
  readonly proxy: Proxy;
  readonly master: TestRedis;
  readonly replica: TestRedis;
  /**
   * Promotes the replica. The old master follows it, read-only, and keeps its connections. The name leads to
   * the new master.
   */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export async function startNamedRedis(): Promise<NamedRedis> {
  const args = ["--repl-diskless-sync-delay", "0"];
  const [master, replica] = await Promise.all([startRedis({ args }), startRedis({ args })]);
  const proxy = await startProxy(master.port);
  await follow(replica, master);
  return {
    url: proxy.url,
    proxy,
    master,
    replica,
    async failOver() {
      await until("the replica has all", async () => {
        const [ofMaster, ofReplica] = await Promise.all([master, replica].map(offsetOf));
        return ofMaster === ofReplica;
      });
      await command(replica, "REPLICAOF", "NO", "ONE");
      await follow(master, replica);
      proxy.leadTo(replica.port);
    },
    stop: async () => {
      await Promise.all([proxy.stop(), master.stop(), replica.stop()]);
    },
  };
}

async function follow(replica: TestRedis, master: TestRedis): Promise<void> {
  await command(replica, "REPLICAOF", "127.0.0.1", String(master.port));
  await until("the replica follows its master", async () =>
    (await replication(replica)).includes("master_link_status:up"),
  );
}

const replication = async (redis: TestRedis) => String(await command(redis, "INFO", "replication"));
