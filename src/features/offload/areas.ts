import { newToken } from "../../kernel/names/ids.ts";
import { objectsKey } from "../../kernel/names/keys.ts";
import { lastReply } from "../../kernel/scripts/replies.ts";
import type { SendOptions, Transport } from "../../kernel/transport.ts";

/** The database and prefix to which objects belong. */
export interface ObjectDatabase {
  readonly transport: Transport;
  readonly prefix?: string | undefined;
}

/**
 * Reads the area of a database: the part of its objects' keys that distinguishes them from those of another database
 * with the same prefix and store. Redis has it, so a database that has lost its data gets another one, and a sweep
 * never takes the objects of one database for orphans of another. One request of two commands.
 */
export async function readArea(
  { transport, prefix }: ObjectDatabase,
  options: SendOptions = {},
): Promise<string> {
  const key = objectsKey(prefix);
  const outcomes = await transport.send(
    [
      ["SET", key, newToken(), "NX"],
      ["GET", key],
    ],
    options,
  );
  return String(lastReply(outcomes));
}

/** The areas that this instance has read. */
export class Areas {
  readonly #byDatabase = new Map<string, string>();
  /** For transports that name no database. */
  readonly #byTransport = new WeakMap<Transport, Map<string, string>>();

  /** @throws {SluiceError} a fault of the transport */
  async of(database: ObjectDatabase): Promise<string> {
    const { transport, prefix } = database;
    const known = this.#knownTo(transport);
    const name = `${transport.database} ${prefix}`;
    const found = known.get(name) ?? (await readArea(database));
    known.set(name, found);
    return found;
  }

  #knownTo(transport: Transport): Map<string, string> {
    if (transport.database !== undefined) return this.#byDatabase;
    const own = this.#byTransport.get(transport) ?? new Map<string, string>();
    this.#byTransport.set(transport, own);
    return own;
  }
}
