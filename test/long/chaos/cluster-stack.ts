import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { queueKeys, registryKey } from "../../../src/kernel/names/keys.ts";
import { hashSlot } from "../../../src/transports/hash-slot.ts";
import { failOver, killMaster, migrateSlot, pauseUntilReplaced } from "../../support/cluster-changes.ts";
import { type KeySpace, readKeySpace } from "../../support/key-space.ts";
import {
  type ClusterMember,
  command,
  offsetOf,
  startCluster,
  type TestCluster,
  until,
} from "../../support/redis-cluster.ts";
import { commandsOf } from "./cluster-history.ts";
import { freeUrl, ONCE, Stack, type StackOptions, type Trouble, type Urls } from "./stack.ts";
import { QUEUES } from "./work.ts";

/** A pause after which a master is still the master, ms. */
const SHORT_PAUSE = 1_000;

/**
 * A cluster of three masters, a replica and a witness for each, and the processes that use it. Masters end
 * only when their replicas have all that they have acknowledged, so that nothing acknowledged may be lost.
 */
export class ClusterStack extends Stack {
  /** Fewer, because the troubles of a cluster take longer. */
  readonly shares = {
    consumer: { kill: 2, pause: 1 },
    receiver: ONCE,
    producer: ONCE,
    sweeper: ONCE,
    deepSweeper: ONCE,
  };
  readonly certain = ["redis", "server", "connections cut"];
  readonly #cluster: TestCluster;
  /** By queue, the witnesses of the masters that had its slot, in order. */
  readonly #stays = new Map<string, ClusterMember[]>();
  /** By witness, the append-only file that it began. */
  readonly #files = new Map<ClusterMember, string>();

  static async open(options: StackOptions, seconds: number): Promise<ClusterStack> {
    const cluster = await startCluster({ witnesses: true });
    const urls = { redis: cluster.url, gateway: "", server: await freeUrl(), receiver: await freeUrl() };
    const stack = new ClusterStack(cluster, options, urls);
    await stack.#noteStays();
    return stack.begin(seconds);
  }

  private constructor(cluster: TestCluster, options: StackOptions, urls: Urls) {
    super(options, urls);
    this.#cluster = cluster;
  }

  async #noteStays(): Promise<void> {
    for (const name of Object.values(QUEUES)) {
      const master = await this.#cluster.masterOf(hashSlot(queueKeys(name).tasks));
      this.#stays.set(name, [await this.#witnessOf(master)]);
    }
    for (const member of this.#witnesses()) this.#files.set(member, manifestOf(member));
  }

  troubles(): readonly Trouble[] {
    return [
      this.#kill,
      this.#pauseLong,
      this.#pauseShort,
      this.#failOver,
      this.#cut,
      this.#cut,
      this.#migrate,
      this.#migrate,
    ];
  }

  /** A master is killed, its replica takes over, and it comes back as a replica. */
  readonly #kill: Trouble = async () => {
    const master = await this.#anyMaster();
    this.noteRedis("killed");
    await killMaster(this.#cluster, master);
    this.noteRedis("started");
    await sleep(this.options.roll(1_000));
    await master.redis.restart();
    await this.#cluster.settled();
  };

  /** A master is paused until its replica has taken over. */
  readonly #pauseLong: Trouble = async () => {
    const master = await this.#anyMaster();
    await this.paused(() => pauseUntilReplaced(this.#cluster, master));
    await this.#cluster.settled();
  };

  readonly #pauseShort: Trouble = async () => {
    const { redis } = await this.#anyMaster();
    await this.paused(async () => {
      redis.signal("SIGSTOP");
      await sleep(this.options.roll(SHORT_PAUSE));
      redis.signal("SIGCONT");
    });
  };

  readonly #failOver: Trouble = async () => {
    const master = await this.#anyMaster();
    await this.paused(() => failOver(this.#cluster, master));
    await this.#cluster.settled();
  };

  /** All connections to a master break, and the replies on them are lost. */
  readonly #cut: Trouble = async () => {
    await command((await this.#anyMaster()).redis, "CLIENT", "KILL", "TYPE", "normal");
    this.options.ledger.write({ what: "fault", kind: "connections cut" });
  };

  /** A queue, or the registry, moves to another master, key by key. */
  readonly #migrate: Trouble = async () => {
    const name = [...this.#stays.keys(), undefined][this.options.roll(this.#stays.size + 1)];
    const key = name === undefined ? registryKey() : queueKeys(name).tasks;
    const slot = hashSlot(key);
    const from = await this.#cluster.masterOf(slot);
    const others = (await this.#cluster.masters()).filter(({ id }) => id !== from.id);
    const to = others[this.options.roll(others.length)] as ClusterMember;
    // Without records nothing would show in the witness's file that the queue has arrived.
    if ((await command(from.redis, "EXISTS", key)) === 0) return;
    await this.paused(() => migrateSlot(this.#cluster, slot, to, () => sleep(this.options.roll(60))));
    if (name !== undefined) this.#stays.get(name)?.push(await this.#witnessOf(to));
    this.options.ledger.write({ what: "fault", kind: "slot moved" });
    await this.#cluster.settled();
  };

  /** Stops writes meanwhile, on all masters. */
  async keySpace(): Promise<KeySpace> {
    const masters = await this.#cluster.masters();
    return this.paused(async () => {
      for (const { redis } of masters) await command(redis, "CLIENT", "PAUSE", "60000", "WRITE");
      const spaces = await Promise.all(masters.map(({ redis }) => readKeySpace(redis.url)));
      for (const { redis } of masters) await command(redis, "CLIENT", "UNPAUSE");
      return Object.assign({}, ...spaces) as KeySpace;
    });
  }

  async history() {
    await this.#cluster.settled();
    // What is replicated is in the file a moment later.
    await until("the witnesses have all", async () => {
      const masters = await this.#cluster.masters();
      const all = await Promise.all(
        masters.map(async (master) => [
          await offsetOf(master.redis),
          await offsetOf((await this.#witnessOf(master)).redis),
        ]),
      );
      return all.every(([written, got]) => written === got);
    });
    await sleep(200);
    const faults = [...this.#files]
      .filter(([member, file]) => manifestOf(member) !== file)
      .map(
        ([{ port }]) => `the witness at port ${port} was resynchronised, so its file lacks what was before`,
      );
    const folders = [...this.#stays].map(
      ([name, members]) => [name, members.map(({ redis }) => redis.folder)] as const,
    );
    const { commands, faults: unread } = commandsOf(new Map(folders));
    return { commands, faults: [...faults, ...unread] };
  }

  keepFiles(folder: string): void {
    for (const { redis, port } of this.#witnesses())
      cpSync(join(redis.folder, "appendonlydir"), join(folder, `appendonlydir-${port}`), { recursive: true });
  }

  protected stopRedis(): Promise<void> {
    return this.#cluster.stop();
  }

  #witnesses(): ClusterMember[] {
    return this.#cluster.members.filter(({ isWitness }) => isWitness);
  }

  async #witnessOf(master: ClusterMember): Promise<ClusterMember> {
    const found = (await this.#cluster.replicasOf(master)).find(({ isWitness }) => isWitness);
    if (!found) throw new Error("a master has no witness");
    return found;
  }

  async #anyMaster(): Promise<ClusterMember> {
    const masters = await this.#cluster.masters();
    return masters[this.options.roll(masters.length)] as ClusterMember;
  }
}

const manifestOf = ({ redis }: ClusterMember) =>
  readFileSync(join(redis.folder, "appendonlydir", "appendonly.aof.manifest"), "utf8");
