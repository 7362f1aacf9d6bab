import { commandCall, run } from "../kernel/call.ts";
import { DEFAULT_PREFIX } from "../kernel/names/keys.ts";
import { keyPrefix } from "../kernel/options/validation.ts";
import { putRecords } from "../operate/put-records.ts";
import type { PlainCommand, Reply, Transport } from "../kernel/transport.ts";

/** What the dialect keeps beside its tasks. */
export type Kind = "url-groups" | "queues" | "flow-control";

/** Records of one kind, by name, as JSON in the hash `{prefix}:qstash:{kind}`. */
export class Records<T> {
  readonly #transport: Transport;
  readonly #key: string;

  constructor(transport: Transport, prefix: string | undefined, kind: Kind) {
    this.#transport = transport;
    this.#key = `${keyPrefix(prefix ?? transport.prefix ?? DEFAULT_PREFIX)}:qstash:${kind}`;
  }

  async get(name: string): Promise<T | undefined> {
    const text = await this.#send(["HGET", this.#key, name]);
    return text === null ? undefined : (JSON.parse(String(text)) as T);
  }

  /** All records, by name. */
  async list(): Promise<Map<string, T>> {
    const all = new Map<string, T>();
    let cursor = "0";
    do {
      const page = (await this.#send(["HSCAN", this.#key, cursor, "COUNT", "500"])) as [string, string[]];
      const [next, pairs] = page;
      for (let i = 0; i + 1 < pairs.length; i += 2)
        all.set(pairs[i] as string, JSON.parse(pairs[i + 1] as string) as T);
      cursor = next;
    } while (cursor !== "0");
    return all;
  }

  /**
   * Changes a record, as one step: if another caller has changed it meanwhile, it begins again.
   * @param change returns the new record; undefined removes it
   */
  async change(name: string, change: (before: T | undefined) => T | undefined): Promise<void> {
    for (;;) {
      const was = await this.#send(["HGET", this.#key, name]);
      const after = change(was === null ? undefined : (JSON.parse(String(was)) as T));
      const record = after === undefined ? "" : JSON.stringify(after);
      const [done] = await putRecords(this.#transport, this.#key, [
        { field: name, was: String(was ?? ""), record },
      ]);
      if (done) return;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#send(["HDEL", this.#key, name]);
  }

  #send(command: PlainCommand): Promise<Reply> {
    return run(
      this.#transport,
      commandCall(command, (reply) => reply),
    );
  }
}
