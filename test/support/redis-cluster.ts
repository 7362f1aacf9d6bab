import { setTimeout as sleep } from "node:timers/promises";
import { createClient, ErrorReply } from "@redis/client";
import { startRedis, type TestRedis } from "./redis.ts";

/** One node of a test's cluster. */
export interface ClusterMember {
  readonly redis: TestRedis;
  readonly port: number;
  /** The id that the cluster has for it. */
  readonly id: string;
  /** Whether it follows its masters for ever, and writes down all that they write. */
  readonly isWitness: boolean;
}

/** A real Redis Cluster for one test. */
export interface TestCluster {
  /** The URL for `resp()`. */
  readonly url: string;
  readonly members: readonly ClusterMember[];
  /** The masters that have slots, as most live members see it. */
  masters(): Promise<ClusterMember[]>;
  masterOf(slot: number): Promise<ClusterMember>;
  /** The replica that can take over. */
  replicaOf(master: ClusterMember): Promise<ClusterMember>;
  replicasOf(master: ClusterMember): Promise<ClusterMember[]>;
  /** Starts a node without slots, and waits until all know it. */
  add(): Promise<ClusterMember>;
  /** Waits until all members that answer agree on the slots. A master may have no replica. */
  agreed(): Promise<void>;
  /** Waits until all members agree on the slots, and each master has a replica, which has all its data. */
  settled(): Promise<void>;
  /** Removes all keys and scripts from all masters. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export interface StartClusterOptions {
  /** With as many replicas, one for each. @default 3 */
  readonly masters?: number;
  /** Further arguments of each redis-server. */
  readonly args?: readonly string[];
  /** Whether each master also has a replica that is never promoted, with an append-only file. @default false */
  readonly witnesses?: boolean;
}

const SLOTS = 16_384;

/** False on the embedded store, which forms no cluster: see `test/embedded`. */
export const hasClusters = process.env["SLUICE_TEST_STORE"] !== "embedded";

/** The bus of a node listens 10,000 above its port, and must be below the range of ephemeral ports too. */
export const CLUSTER_PORTS = [20_000, 22_000] as const;
/** How long a node must be silent to be taken for failed, ms: longer than a busy machine keeps it waiting. */
const NODE_TIMEOUT = 2_500;
const DEADLINE = 30_000;
/** It must never be resynchronised as a whole, which would rewrite its file. */
const WITNESS = {
  "--cluster-replica-no-failover": "yes",
  "--appendonly": "yes",
  "--appendfsync": "no",
  "--auto-aof-rewrite-percentage": "0",
};

/** Starts masters with one replica each. They end with {@link TestCluster.stop}, or with this process. */
export async function startCluster({
  masters = 3,
  args = [],
  witnesses = false,
}: StartClusterOptions = {}): Promise<TestCluster> {
  const settings = {
    "--cluster-enabled": "yes",
    "--cluster-node-timeout": String(NODE_TIMEOUT),
    "--cluster-require-full-coverage": "no",
    "--repl-diskless-sync-delay": "0",
    // A replica that has all can go on with the next master where it was with the last.
    "--repl-backlog-size": "64mb",
    "--repl-ping-replica-period": "3600",
    "--repl-timeout": "7200",
    // Each master keeps its replica: the cluster moves none to another master.
    "--cluster-allow-replica-migration": "no",
    "--cluster-replica-validity-factor": "0",
  };
  const all = [...Object.entries(settings).flat(), ...args];
  const members: ClusterMember[] = [];
  const start = async (isWitness = false) => {
    const redis = await startRedis({
      args: isWitness ? [...all, ...Object.entries(WITNESS).flat()] : all,
      ports: CLUSTER_PORTS,
    });
    const id = String(await command(redis, "CLUSTER", "MYID"));
    const member = { redis, port: redis.port, id, isWitness };
    members.push(member);
    return member;
  };
  const cluster = new Cluster(members, () => start());
  try {
    const started = await Promise.all(Array.from({ length: 2 * masters }, () => start()));
    const watching = await Promise.all(Array.from({ length: witnesses ? masters : 0 }, () => start(true)));
    await cluster.form(started.slice(0, masters), [...started.slice(masters), ...watching]);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

let shared: Promise<TestCluster> | undefined;

/** A cluster without keys and scripts, which the test files of a process hand on. It ends with the process. */
export async function sharedCluster(): Promise<TestCluster> {
  const cluster = await (shared ??= startCluster());
  await cluster.settled();
  await cluster.empty();
  return cluster;
}

const clients = new Map<string, Promise<ReturnType<typeof newClient>>>();

function newClient(url: string) {
  // A limit would also count the time for which the machine gives this process none.
  const socket = { reconnectStrategy: false, connectTimeout: 0 } as const;
  return createClient({ url, RESP: 2, commandOptions: { timeout: 3_000 }, socket }).on("error", () => {});
}

/** Sends a command, without the product's code. @throws if a node that is connected takes over 3 s to answer */
export async function command({ url }: Pick<TestRedis, "url">, ...words: string[]): Promise<unknown> {
  let client = clients.get(url);
  if (!client) clients.set(url, (client = newClient(url).connect()));
  try {
    return await (await client).sendCommand(words);
  } catch (error) {
    // An error reply leaves the connection as it is.
    if (!(error instanceof ErrorReply)) disconnect(url);
    throw error;
  }
}

/** How far a server's data goes: that of a replica, and that of its master once the replica has all. */
export const offsetOf = async (redis: Pick<TestRedis, "url">): Promise<string | undefined> =>
  /^master_repl_offset:(\d+)/m.exec(String(await command(redis, "INFO", "replication")))?.[1];

function disconnect(url: string): void {
  clients.get(url)?.then(
    (client) => client.destroy(),
    () => {},
  );
  clients.delete(url);
}

/** Repeats a look until it succeeds. A node that does not answer counts as a look in vain. */
export async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + DEADLINE; !(await look().catch(() => false)); await sleep(25)) {
    if (Date.now() > end) throw new Error(`after ${DEADLINE} ms still not: ${what}`);
  }
}

type Range = readonly [
  first: number,
  last: number,
  ...nodes: (readonly [host: string, port: number, id: string])[],
];

class Cluster implements TestCluster {
  readonly members: ClusterMember[];
  readonly #start: () => Promise<ClusterMember>;

  constructor(members: ClusterMember[], start: () => Promise<ClusterMember>) {
    this.members = members;
    this.#start = start;
  }

  get url(): string {
    return `cluster://${this.members.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }

  async form(masters: readonly ClusterMember[], replicas: readonly ClusterMember[]): Promise<void> {
    const [first] = masters as [ClusterMember];
    const share = Math.ceil(SLOTS / masters.length);
    for (const [i, { redis }] of masters.entries()) {
      const last = Math.min(SLOTS, (i + 1) * share) - 1;
      await command(redis, "CLUSTER", "ADDSLOTSRANGE", String(i * share), String(last));
      await command(redis, "CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
    }
    for (const { redis } of [...masters.slice(1), ...replicas])
      await command(redis, "CLUSTER", "MEET", "127.0.0.1", String(first.port));
    await this.#known();
    for (const [i, { redis }] of replicas.entries())
      await command(redis, "CLUSTER", "REPLICATE", (masters[i % masters.length] as ClusterMember).id);
    await until("all replicas follow", async () => {
      const infos = await Promise.all(replicas.map(({ redis }) => command(redis, "INFO", "replication")));
      return infos.every((info) => /^master_link_status:up/m.test(String(info)));
    });
    // The cluster names a replica only once something was replicated to it.
    for (const { redis } of masters) await command(redis, "FLUSHALL");
    await this.settled();
  }

  async masters(): Promise<ClusterMember[]> {
    const ranges = await this.#ranges();
    return [...new Set(ranges.map(([, , master]) => this.#withId(master?.[2])))];
  }

  async masterOf(slot: number): Promise<ClusterMember> {
    const range = (await this.#ranges()).find(([first, last]) => first <= slot && slot <= last);
    return this.#withId(range?.[2]?.[2]);
  }

  async replicaOf(master: ClusterMember): Promise<ClusterMember> {
    const found = (await this.replicasOf(master)).find(({ isWitness }) => !isWitness);
    if (!found) throw new Error("the master has no replica");
    return found;
  }

  async replicasOf({ id }: ClusterMember): Promise<ClusterMember[]> {
    const range = (await this.#ranges()).find(([, , master]) => master?.[2] === id) ?? [];
    return range.slice(3).map((replica) => this.#withId((replica as readonly unknown[])[2] as string));
  }

  async add(): Promise<ClusterMember> {
    const member = await this.#start();
    await command(member.redis, "CLUSTER", "MEET", "127.0.0.1", String(this.members[0]?.port));
    await this.#known();
    await this.settled();
    return member;
  }

  agreed(): Promise<void> {
    return until("the nodes agree on the slots", async () => {
      const [first, ...others] = (await this.#views()).map(slotsOf);
      return first !== undefined && others.every((view) => view === first);
    });
  }

  async settled(): Promise<void> {
    await until("the nodes agree, and replicas follow", async () => {
      const views = await Promise.all(
        this.members.map(async ({ redis }) => {
          const info = String(await command(redis, "INFO", "replication"));
          const state = String(await command(redis, "CLUSTER", "INFO"));
          const ranges = (await command(redis, "CLUSTER", "SLOTS")) as Range[];
          const isJoined = /^role:slave/m.test(info)
            ? /^master_link_status:up/m.test(info)
            : ranges.every(
                ([, , master, ...replicas]) =>
                  master?.[1] !== redis.port ||
                  (replicas.length > 0 &&
                    info.match(/^slave\d+:.*state=online/gm)?.length === replicas.length),
              );
          return { ok: isJoined && /^cluster_state:ok/m.test(state), slots: slotsOf(ranges) };
        }),
      );
      return views.every(({ ok, slots }) => ok && slots === views[0]?.slots);
    });
  }

  async empty(): Promise<void> {
    const masters = await this.masters();
    for (const words of [["FLUSHALL"], ["SCRIPT", "FLUSH"]])
      await Promise.all(masters.map(({ redis }) => command(redis, ...words)));
  }

  async stop(): Promise<void> {
    for (const { redis } of this.members) disconnect(redis.url);
    await Promise.all(this.members.map(({ redis }) => redis.stop()));
  }

  /** Waits until each member knows all others. */
  #known(): Promise<void> {
    return until("all nodes know each other", async () => {
      const known = await Promise.all(
        this.members.map(async ({ redis }) => String(await command(redis, "CLUSTER", "NODES"))),
      );
      return known.every(
        (nodes) => nodes.trim().split("\n").length === this.members.length && !/handshake/.test(nodes),
      );
    });
  }

  /** The slots as most of the members that answer see them. */
  async #ranges(): Promise<Range[]> {
    const views = await this.#views();
    const votes = (view: readonly Range[]) => views.filter((each) => slotsOf(each) === slotsOf(view)).length;
    return views.toSorted((one, other) => votes(other) - votes(one))[0] ?? [];
  }

  /** The slots as each of the members that answer sees them. */
  async #views(): Promise<Range[][]> {
    const answers = await Promise.allSettled(
      this.members.map(({ redis }) => command(redis, "CLUSTER", "SLOTS") as Promise<Range[]>),
    );
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  }

  #withId(id: string | undefined): ClusterMember {
    const found = this.members.find((member) => member.id === id);
    if (!found) throw new Error(`no member has the id ${id}`);
    return found;
  }
}

/** Which master has which slots, and its replicas, as a text. */
function slotsOf(ranges: readonly Range[]): string {
  return ranges
    .map(
      ([first, last, master, ...replicas]) =>
        `${first}-${last} ${master?.[1]} ${replicas
          .map(([, port]) => String(port))
          .toSorted()
          .join()}`,
    )
    .toSorted()
    .join("; ");
}
