/** Sends the nodes of a flow: what says that they exist first, then the pieces that are still to be added. */
import { SluiceError } from "../../errors.ts";
import { type Call, commandCall, exchange, runAll } from "../../kernel/call.ts";
import { stageFlowScript } from "../../kernel/linked/link-scripts.ts";
import { type NodeItem, pieceCall, pieceMember, pieceText } from "../../kernel/linked/node-pieces.ts";
import { noteNodes } from "../../kernel/linked/node-notes.ts";
import { emptyOutbox, removeEntries } from "../../kernel/linked/outbox.ts";
import { replyOf } from "../../kernel/scripts/replies.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Command } from "../../kernel/transport.ts";
import type { NodesOfShard } from "./flow-nodes.ts";

/** Most pieces, and most characters of their records, in one request. */
const REQUEST_PIECES = 16;
const REQUEST_LENGTH = 2_500_000;

/** How long pieces are kept of a flow that is not recorded, ms. */
const STAGED_FOR = 3_600_000;

/** A partition that gets nodes. */
export interface Target {
  readonly shard: Shard;
  /** How long a wake of a consumer counts there, ms, as the scripts take it. */
  readonly wake: string;
}

export interface NodesToSend<T> {
  /** The partition that has the join behind all of them. */
  readonly from: Shard;
  /** All partitions that get nodes, by their names in the registry. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly token: string;
  /** What goes in front of the nodes in that partition: the first one is the join. */
  readonly front: readonly NodeItem[];
  /** Pieces that other partitions get before that. @default none */
  readonly first?: readonly NodesOfShard[] | undefined;
  /** As `writeNodes` returns them. */
  readonly pieces: readonly (readonly NodesOfShard[])[];
  /** The call that records them, with those of its own partition if there are few. */
  readonly record: (items: readonly NodeItem[]) => Call<T>;
}

/** What a call that records nodes returns. */
interface Recorded {
  readonly status: string;
  readonly wake: boolean;
  /** Whether this call has added them, a copy of it, or another one. */
  readonly by: "this" | "copy" | "others";
}

/** A piece that the first call does not add. */
interface LaterPiece {
  readonly target: Target;
  readonly member: string;
  readonly text: string;
  readonly items: readonly NodeItem[];
}

/**
 * Sends nodes. Once they are recorded, they are added even if this process dies: the rest is left to a sweep.
 * @returns what the call that records them has returned, and the partitions of which a consumer is to be woken
 * @throws {SluiceError} a fault of the transport
 */
export async function sendNodes<T extends Recorded>(
  { from, targets, token, front, first = [], pieces, record }: NodesToSend<T>,
  signal: AbortSignal | undefined,
): Promise<T & { readonly wakes: ReadonlySet<string> }> {
  const { transport } = from.queue;
  const root = front[0]?.id as string;
  const isSmall = pieces.length === 1;
  // A small flow begins in its home at once.
  const own =
    isSmall && first.length === 0 ? pieces[0]?.find(({ shard }) => shard === from.name)?.items : undefined;
  const later = [...first, ...pieces.flat()]
    .filter(({ items }) => items !== own)
    .map(({ shard, items }, i): LaterPiece => {
      const text = pieceText({ token, items });
      return { target: targets.get(shard) as Target, member: pieceMember(root, i, shard), text, items };
    });
  const notes = Array.from(targets.values(), ({ shard }) => commandCall(noteNodes(shard), () => undefined));
  if (!isSmall) {
    for (const slice of requestsOf(later)) {
      const args = { root, keptFor: String(STAGED_FOR) };
      await runAll(
        transport,
        slice.map(({ member, text }) => from.call(stageFlowScript, args, [{ member, text }], from.note())),
        { signal },
      );
    }
  }
  const entries = later.map(({ member, text }) => ({
    id: member,
    edges: isSmall ? "~x" : "~s",
    record: isSmall ? text : "",
  }));
  const call = record([...front, ...(own ?? []), ...entries]);
  // Sweeps then complete what this call may leave.
  const replies = await exchange(transport, [...notes, call] as const, { signal });
  const recorded = (replies.at(-1) as () => T)();
  const wakes = new Set(recorded.wake ? [from.name] : []);
  if (recorded.status === "ok" && later.length > 0) {
    try {
      if (recorded.by === "this") await addLater(from, token, later, wakes);
      // What an earlier call has left, if anything.
      else await emptyOutbox(from.queue, from.name, { signal });
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
    }
  }
  return { ...recorded, wakes };
}

/** Adds pieces, and removes what says that they are to be added. */
async function addLater(
  from: Shard,
  token: string,
  later: readonly LaterPiece[],
  wakes: Set<string>,
): Promise<void> {
  const { transport } = from.queue;
  let removals: readonly Command[] = [];
  for (const slice of requestsOf(later)) {
    const calls = slice.map(({ target, items }) => pieceCall(target.shard, { token, items }, target.wake));
    const before = removals.map((command) => commandCall(command, () => undefined));
    const replies = (
      await runAll<{ status: string; wake: boolean } | undefined>(transport, [...before, ...calls])
    ).slice(before.length);
    for (const [i, { target }] of slice.entries()) if (replies[i]?.wake) wakes.add(target.shard.name);
    const added = slice.filter((_, i) => replies[i]?.status === "ok");
    removals = removeEntries(
      from,
      added.map(({ member }) => ({ kind: "field", member })),
    );
    // Those of a partition are added in their order: a sweep goes on, when Redis has room again.
    if (added.length < slice.length) break;
  }
  if (removals.length === 0) return;
  for (const outcome of await transport.send(removals)) replyOf(outcome);
}

/** Pieces by the requests that they fit into. */
function requestsOf(pieces: readonly LaterPiece[]): LaterPiece[][] {
  const requests: LaterPiece[][] = [];
  let length = Infinity;
  for (const piece of pieces) {
    const last = requests.at(-1);
    length += piece.text.length;
    if (last && last.length < REQUEST_PIECES && length <= REQUEST_LENGTH) last.push(piece);
    else {
      requests.push([piece]);
      length = piece.text.length;
    }
  }
  return requests;
}
