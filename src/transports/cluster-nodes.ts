import { Transient } from "../retry.ts";
import type { ClusterAddress, NodeAddress } from "./resp-address.ts";
import type { Client, RedisPackage } from "./resp-client.ts";
import { Connection, throwConnectError } from "./resp-connection.ts";

const SLOTS = 16_384;

type SlotRanges = Awaited<ReturnType<Client["clusterSlots"]>>;

/** How many nodes are asked for the slots at once, and how long each may take, ms. */
const ASKED_AT_ONCE = 3;
const LONGEST_ANSWER = 1_000;

/** A node, with the connection that all requests to it share. */
export class ClusterNode {
  readonly address: NodeAddress;
  readonly url: string;
  readonly connection: Connection;
  /** Whether a request to it has failed since the slots were last read. */
  suspect = false;
  /** How many requests are under way. */
  uses = 0;

  constructor(address: NodeAddress, url: string, connection: Connection) {
    this.address = address;
    this.url = url;
    this.connection = connection;
  }
}

/**
 * Knows which node has which hash slot, and keeps one connection to each node that is used.
 *
 * The package's cluster client is not used. It resends redirected commands itself, keeps a node's broken
 * client, has no public way to read the slots again, and does not follow ASK to a node without slots. Here
 * each copy of a command is one that `sender` has counted, so that no script runs twice without `resendArgs`.
 */
export class ClusterNodes {
  readonly #redis: RedisPackage;
  readonly #address: ClusterAddress;
  readonly #timeout: number;
  /** By the address at which they are reached. */
  readonly #nodes = new Map<string, ClusterNode>();
  readonly #seeds: readonly ClusterNode[];
  /** By slot. Only masters. */
  #owners: (ClusterNode | undefined)[] = [];
  #reading: Promise<void> | undefined;
  #closed = false;
  #next = 0;

  /** @param timeout the longest time of a try, ms */
  constructor(redis: RedisPackage, address: ClusterAddress, timeout: number) {
    this.#redis = redis;
    this.#address = address;
    this.#timeout = timeout;
    this.#seeds = address.seeds.map((seed) => this.#reachedAt(seed));
  }

  /**
   * The master that has a slot, or any master without one. Reads the slots again if that node has failed.
   * @throws {Transient} if none is known; {@link SluiceError} if the nodes refuse the credentials
   */
  async owner(slot: number | undefined): Promise<ClusterNode> {
    const known = this.#known(slot);
    if (known && !known.suspect) return known;
    await this.#readSlots();
    const found = this.#known(slot);
    if (!found) throw new Transient(`no node of the cluster has the hash slot ${slot}`);
    return found;
  }

  /** Notes that a slot has moved, and returns the node that has it now. */
  moved(slot: number, to: NodeAddress): ClusterNode {
    return (this.#owners[slot] = this.named(to));
  }

  /** The node to which the cluster gives this address. */
  named(address: NodeAddress): ClusterNode {
    return this.#reachedAt(this.#address.translate(address));
  }

  /** Notes the end of a request. A node that has left the cluster meanwhile is closed with its last one. */
  release(node: ClusterNode): void {
    node.uses--;
    if (node.uses === 0 && this.#nodes.get(nameOf(node.address)) !== node) node.connection.drop();
  }

  /** The URL of a node for a subscription. Each call returns another one: messages reach all nodes. */
  nextUrl(): string {
    const masters = this.#masters();
    const nodes = masters.length > 0 ? masters : this.#seeds;
    return (nodes[this.#next++ % nodes.length] as ClusterNode).url;
  }

  /** Closes all connections. Their pending commands are lost. */
  close(): void {
    this.#closed = true;
    for (const { connection } of this.#nodes.values()) connection.drop();
  }

  #known(slot: number | undefined): ClusterNode | undefined {
    return slot === undefined ? this.#masters().find(({ suspect }) => !suspect) : this.#owners[slot];
  }

  #masters(): ClusterNode[] {
    return [...new Set(this.#owners)].filter((node) => node !== undefined);
  }

  #reachedAt(address: NodeAddress): ClusterNode {
    const name = nameOf(address);
    let node = this.#nodes.get(name);
    if (!node) {
      const url = this.#address.urlOf(address);
      node = new ClusterNode(address, url, new Connection(this.#redis, url, this.#timeout));
      this.#nodes.set(name, node);
    }
    return node;
  }

  /** Reads the slots, once for all that wait for them. */
  #readSlots(): Promise<void> {
    return (this.#reading ??= this.#askNodes().finally(() => (this.#reading = undefined)));
  }

  /** Asks a few nodes at once, and takes the first answer: one that is down or paused delays nothing. */
  async #askNodes(): Promise<void> {
    const nodes = [...this.#nodes.values()].toSorted(() => Math.random() - 0.5);
    const rest = [...nodes.filter(({ suspect }) => !suspect), ...nodes.filter(({ suspect }) => suspect)];
    let failures: unknown[] = [];
    while (rest.length > 0) {
      const asked = rest.splice(0, ASKED_AT_ONCE);
      try {
        const take = await Promise.any(asked.map((node) => this.#ask(node)));
        return take();
      } catch (error) {
        failures = [...failures, ...(error as AggregateError).errors];
      }
    }
    throw failures.find((failure) => !(failure instanceof Transient)) ?? failures[0];
  }

  async #ask(node: ClusterNode): Promise<() => void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const longest = Math.min(LONGEST_ANSWER, this.#timeout);
      timer = setTimeout(() => reject(new Transient(`no answer within ${longest} ms`)), longest);
    });
    const answer = this.#slotsOf(node);
    try {
      const slots = await Promise.race([answer, late]);
      return () => this.#take(slots, node);
    } catch (error) {
      answer.catch(() => {});
      // Requests drop a connection themselves.
      if (node.uses === 0) node.connection.drop();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #slotsOf({ connection }: ClusterNode): Promise<SlotRanges> {
    if (this.#closed) throw new Transient("the transport is closed");
    const client = await connection.open().catch(throwConnectError);
    const slots = await client.clusterSlots().catch(throwConnectError);
    if (slots.length === 0) throw new Transient("the cluster has no slots yet");
    return slots;
  }

  #take(slots: SlotRanges, from: ClusterNode): void {
    const owners: (ClusterNode | undefined)[] = Array.from({ length: SLOTS });
    const listed = new Set(this.#seeds);
    // A node that does not know its own host leaves it out.
    const nodeOf = ({ host, port }: NodeAddress) => this.named({ host: host || from.address.host, port });
    for (const { from: first, to, master, replicas } of slots) {
      const owner = nodeOf(master);
      owners.fill(owner, first, to + 1);
      for (const node of [owner, ...replicas.map(nodeOf)]) listed.add(node);
    }
    this.#owners = owners;
    for (const [name, node] of this.#nodes) {
      node.suspect = false;
      if (listed.has(node) || node.uses > 0) continue;
      node.connection.drop();
      this.#nodes.delete(name);
    }
  }
}

export const nameOf = ({ host, port }: NodeAddress) => `${host}:${port}`;
