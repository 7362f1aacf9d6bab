import { SluiceError } from "../errors.ts";
import { Transient } from "../retry.ts";
import type { Command, CommandOutcome, Transport } from "../kernel/transport.ts";
import { type ClusterNode, ClusterNodes, nameOf } from "./cluster-nodes.ts";
import { slotOf } from "./hash-slot.ts";
import { isRefusedForNow } from "./redis-refusal.ts";
import { ReplyPacer } from "./reply-pacer.ts";
import type { ClusterAddress, NodeAddress } from "./resp-address.ts";
import { type Client, newClient, type RedisPackage } from "./resp-client.ts";
import { throwConnectError, type RespWire } from "./resp-connection.ts";
import { type Exchange, type ExchangeResult, sender, type SenderOptions } from "./send.ts";

/** Most redirections of one copy. More than two in a row mean that the nodes do not agree yet. */
const MOST_REDIRECTIONS = 5;

/**
 * Reaches a Redis Cluster. The commands of a request that have the same hash slot are one request of their
 * own, with its own resends: a node that does not answer delays only the commands of its slots.
 */
export function clusterWire(
  redis: RedisPackage,
  address: ClusterAddress,
  options: SenderOptions,
  tryTimeout: number,
): RespWire {
  const nodes = new ClusterNodes(redis, address, tryTimeout);
  const pacer = new ReplyPacer();
  const senders = new Map<number | undefined, Transport["send"]>();
  const senderOf = (slot: number | undefined) => {
    let send = senders.get(slot);
    if (!send) senders.set(slot, (send = sender(exchangeOver(nodes, slot, pacer), options)));
    return send;
  };

  return {
    async send(commands, how) {
      const groups = [...bySlot(commands)];
      if (groups.length === 1) return senderOf(groups[0]?.[0])(commands, how);
      const results = await Promise.allSettled(
        groups.map(([slot, indexes]) =>
          senderOf(slot)(
            indexes.map((i) => commands[i] as Command),
            how,
          ),
        ),
      );
      return merged(
        groups.map(([, indexes], i) => [indexes, results[i] as PromiseSettledResult<CommandOutcome[]>]),
      );
    },
    newSubscriber: () => newClient(redis, nodes.nextUrl(), tryTimeout),
    drop: () => nodes.close(),
    where: () => ({ name: address.seeds.map(nameOf).join(", "), hint: "" }),
  };
}

/** The indexes of the commands of each slot. A command without a key goes with the first that has one. */
function bySlot(commands: readonly Command[]): Map<number | undefined, number[]> {
  const slots = commands.map(slotOf);
  const first = slots.find((slot) => slot !== undefined);
  const groups = new Map<number | undefined, number[]>();
  for (const [i, own] of slots.entries()) {
    const slot = own ?? first;
    const group = groups.get(slot);
    if (group) group.push(i);
    else groups.set(slot, [i]);
  }
  return groups;
}

/** Puts together the outcomes of the slots. A slot whose request failed has the error as outcome of each command. */
function merged(
  parts: readonly (readonly [indexes: readonly number[], result: PromiseSettledResult<CommandOutcome[]>])[],
): CommandOutcome[] {
  const outcomes: CommandOutcome[] = [];
  const isPartial = parts.some(([, { status }]) => status === "fulfilled");
  for (const [indexes, result] of parts) {
    if (result.status === "rejected") {
      const { reason } = result;
      if (!(reason instanceof SluiceError) || reason.code === "aborted" || !isPartial) throw reason;
      for (const index of indexes) outcomes[index] = { error: reason };
    } else {
      for (const [i, index] of indexes.entries()) outcomes[index] = result.value[i] as CommandOutcome;
    }
  }
  return outcomes;
}

/** Where the next copy goes. `asking`: the node gets the slot, and takes commands for it only if asked. */
interface Route {
  readonly node: ClusterNode;
  readonly asking: boolean;
}

/**
 * Sends commands of one slot to its node, and follows redirections within the same try: a node that redirects
 * a command has not run it.
 */
function exchangeOver(nodes: ClusterNodes, slot: number | undefined, pacer: ReplyPacer): Exchange {
  return async (commands, currentTry) => {
    const results: ExchangeResult[] = [];
    let left = [...commands.keys()];
    let route: Route = { node: await nodes.owner(slot), asking: false };
    for (let redirections = 0; left.length > 0; redirections++) {
      const { node, asking } = route;
      let client: Client | undefined;
      currentTry.onEnd = () => {
        if (!(currentTry.reason instanceof Transient)) return;
        node.suspect = true;
        node.connection.drop(client);
      };
      node.uses++;
      try {
        const connected = (client = await node.connection.open().catch(throwConnectError));
        // The try may have ended meanwhile. A copy sent now would not be counted as sent.
        if (currentTry.reason) throw currentTry.reason;
        // All in one turn, so that they are sent together and in order, each behind its ASKING.
        await Promise.all(
          left.map(async (i) => {
            if (asking) void node.connection.send(connected, ["ASKING"]);
            results[i] = await node.connection.send(connected, commands[i] ?? []);
          }),
        );
      } catch (error) {
        if (!(error instanceof Transient) || currentTry.reason) throw error;
        // The commands that a node has answered before a redirection keep their answers.
        for (const i of left) results[i] = { lost: error.message };
      } finally {
        nodes.release(node);
      }
      if (left.some((i) => hasFailed(results[i]))) node.suspect = true;
      const redirected = left.flatMap((i) => redirectionOf(results[i], i, node));
      left = redirected.map(({ index }) => index);
      const to = redirected.find(({ asking: ask }) => !ask) ?? redirected[0];
      if (!to) break;
      if (redirections >= MOST_REDIRECTIONS) {
        node.suspect = true;
        for (const i of left) results[i] = { lost: "the nodes of the cluster do not agree on a slot" };
        break;
      }
      route = {
        node: to.asking || slot === undefined ? nodes.named(to.address) : nodes.moved(slot, to.address),
        asking: to.asking,
      };
    }
    await pacer.turn();
    return results;
  };
}

/** Whether the slots should be read again before the next copy. */
function hasFailed(result: ExchangeResult | undefined): boolean {
  return !result || "lost" in result || ("redisError" in result && isRefusedForNow(result.redisError));
}

interface Redirection {
  readonly index: number;
  readonly asking: boolean;
  readonly address: NodeAddress;
}

/** The redirection in a result, if it is one, such as `MOVED 3999 127.0.0.1:6381`. */
function redirectionOf(
  result: ExchangeResult | undefined,
  index: number,
  from: ClusterNode,
): Redirection | readonly [] {
  const text = result && "redisError" in result ? result.redisError : "";
  const [, word, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(text) ?? [];
  if (port === undefined) return [];
  // A node that does not know another one's host leaves it out.
  return { index, asking: word === "ASK", address: { host: host || from.address.host, port: Number(port) } };
}
