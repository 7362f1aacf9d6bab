import { setTimeout as sleep } from "node:timers/promises";
import { type ClusterMember, command, offsetOf, type TestCluster, until } from "./redis-cluster.ts";

/** What operators and accidents do to a cluster. */

/**
 * Moves a slot as `redis-cli --cluster reshard` does, a few keys at a time.
 * @param between what to do after each key; the slot is then on both nodes
 */
export async function migrateSlot(
  cluster: TestCluster,
  slot: number,
  to: ClusterMember,
  between: () => Promise<unknown> = async () => {},
): Promise<void> {
  const from = await cluster.masterOf(slot);
  if (from.id === to.id) return;
  await command(to.redis, "CLUSTER", "SETSLOT", String(slot), "IMPORTING", from.id);
  await command(from.redis, "CLUSTER", "SETSLOT", String(slot), "MIGRATING", to.id);
  await between();
  for (;;) {
    const keys = (await command(from.redis, "CLUSTER", "GETKEYSINSLOT", String(slot), "1")) as string[];
    if (keys.length === 0) break;
    await command(from.redis, "MIGRATE", "127.0.0.1", String(to.port), "", "0", "5000", "KEYS", ...keys);
    await between();
  }
  // The new owner first, so that the slot is never without one.
  const others = (await cluster.masters()).filter(({ id }) => id !== to.id && id !== from.id);
  for (const { redis } of [to, from, ...others])
    await command(redis, "CLUSTER", "SETSLOT", String(slot), "NODE", to.id);
  // Replicas hear of it a moment later. Until then, half of all members may name the old owner.
  await cluster.agreed();
}

/**
 * Stops writes on a master, and waits until its replicas have all that was acknowledged.
 * A master that is killed then loses nothing: Redis replicates after it has answered.
 */
async function caughtUp(cluster: TestCluster, master: ClusterMember): Promise<void> {
  const replicas = await cluster.replicasOf(master);
  await command(master.redis, "CLIENT", "PAUSE", "60000", "WRITE");
  await until("the replicas have caught up", async () => {
    const [written, ...got] = await Promise.all([master, ...replicas].map(({ redis }) => offsetOf(redis)));
    return written !== undefined && got.every((each) => each === written);
  });
}

/**
 * Kills a master with all that it has acknowledged on its replica, and waits until the replica is promoted.
 * @returns the new master
 */
export async function killMaster(cluster: TestCluster, master: ClusterMember): Promise<ClusterMember> {
  const replica = await cluster.replicaOf(master);
  await caughtUp(cluster, master);
  await master.redis.kill();
  await promoted(replica);
  return replica;
}

/**
 * Pauses a master, with all that it has acknowledged on its replica, until the replica is promoted. Then it
 * goes on as a replica.
 */
export async function pauseUntilReplaced(
  cluster: TestCluster,
  master: ClusterMember,
): Promise<ClusterMember> {
  const replica = await cluster.replicaOf(master);
  await caughtUp(cluster, master);
  master.redis.signal("SIGSTOP");
  await promoted(replica).finally(() => master.redis.signal("SIGCONT"));
  await until("the paused master follows", async () =>
    /^role:slave/m.test(String(await command(master.redis, "INFO", "replication"))),
  );
  await command(master.redis, "CLIENT", "UNPAUSE");
  return replica;
}

/** Makes the replica of a master the master, without a loss. Returns the new master. */
export async function failOver(cluster: TestCluster, master: ClusterMember): Promise<ClusterMember> {
  const replica = await cluster.replicaOf(master);
  await command(replica.redis, "CLUSTER", "FAILOVER");
  await promoted(replica);
  return replica;
}

/** Waits until a node is a master. */
async function promoted({ redis }: ClusterMember): Promise<void> {
  await until("the replica is promoted", async () =>
    /^role:master/m.test(String(await command(redis, "INFO", "replication"))),
  );
  await sleep(50);
}
