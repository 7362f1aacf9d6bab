import type { Transport } from "../transport.ts";

/** What the names of databases begin with that say only which transport leads there. */
const UNNAMED = "#";

const names = new WeakMap<Transport, string>();
let lastName = 0;

/** A name for the database of a transport that has none, so that what is remembered of it is valid for all links of it. */
export function nameFor(transport: Transport): string {
  const name = names.get(transport) ?? `${UNNAMED}${++lastName}`;
  names.set(transport, name);
  return name;
}

/** The name of a transport's database; undefined if it has none of its own. */
export const ownName = ({ database }: Transport): string | undefined =>
  database?.startsWith(UNNAMED) ? undefined : database;
