import type { Transport } from "./transport.ts";

/** Most entries of one memory: many queues, such as one for each user, must not fill the instance's memory. */
const MAX_ENTRIES = 10_000;

/**
 * What a function instance remembers of databases: by the database's name, or by transport if it has none. So
 * it stays valid for a new transport, for example one for each request.
 */
export class InstanceMemory<T> {
  readonly #named = new Map<string, T>();
  readonly #byTransport = new WeakMap<Transport, Map<string, T>>();

  get(transport: Transport, key: string): T | undefined {
    return this.#entries(transport).get(nameOf(transport, key));
  }

  set(transport: Transport, key: string, value: T): void {
    const entries = this.#entries(transport);
    if (entries.size >= MAX_ENTRIES) entries.clear();
    entries.set(nameOf(transport, key), value);
  }

  delete(transport: Transport, key: string): void {
    this.#entries(transport).delete(nameOf(transport, key));
  }

  #entries(transport: Transport): Map<string, T> {
    if (transport.database !== undefined) return this.#named;
    const own = this.#byTransport.get(transport) ?? new Map<string, T>();
    this.#byTransport.set(transport, own);
    return own;
  }
}

function nameOf(transport: Transport, key: string): string {
  return `${transport.database} ${key}`;
}
