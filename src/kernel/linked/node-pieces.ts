/** Nodes on their way to a partition, a few at a time: fields of another partition keep what is still to be added. */
import type { Shard } from "../shard.ts";
import { addFlowScript } from "./link-scripts.ts";

/** A node or a field, as the scripts that add flows take them. */
export interface NodeItem {
  readonly id: string;
  readonly edges: string;
  readonly record: string;
}

/** What one call adds to a partition. */
export interface Piece {
  /** Of the call that adds the flow. */
  readonly token: string;
  readonly items: readonly NodeItem[];
}

/** A piece as a field keeps it: a line of JSON, and the records behind it. */
export function pieceText({ token, items }: Piece): string {
  const heads = items.map(({ id, edges, record }) => [id, edges, record.length]);
  return `${JSON.stringify([token, heads])}\n${items.map(({ record }) => record).join("")}`;
}

export function readPiece(text: string): Piece {
  let next = text.indexOf("\n") + 1;
  const [token, heads] = JSON.parse(text.slice(0, next)) as [string, [string, string, number][]];
  const items = heads.map(([id, edges, length]) => ({
    id,
    edges,
    record: text.slice(next, (next += length)),
  }));
  return { token, items };
}

/**
 * The member of `expiry` that says that a piece is still to be added. They are added in their order.
 * @param root the node that all of them are in front of
 * @param shard the partition that gets the piece, by its name in the registry
 */
export const pieceMember = (root: string, number: number, shard: string) =>
  `~x:${root} ${String(number).padStart(6, "0")} ${shard}`;

/** The call that adds a piece of a flow that exists. */
export function pieceCall(shard: Shard, { token, items }: Piece, wake = "") {
  return shard.call(addFlowScript, { wake, token, mayRefuse: "" }, items, shard.note());
}
