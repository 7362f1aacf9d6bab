import type { Command } from "../../src/index.ts";
import type { Gateway } from "../../src/local/index.ts";
import { keyLocking } from "../../src/queue/redis/transport.ts";

/**
 * Loads scripts into Redis before they are called.
 *
 * A pipeline goes on after a script that Redis does not know, so that the commands of one request, such as a settle
 * and a dequeue, run in another order. So this happens only on purpose.
 */
export class ScriptLoader {
  readonly #gateway: Pick<Gateway, "url" | "token">;
  /** The scripts that Redis knows. */
  readonly #loaded = new Set<string>();

  constructor(gateway: Pick<Gateway, "url" | "token">) {
    this.#gateway = gateway;
  }

  async load(commands: readonly Command[]): Promise<void> {
    const called = commands.flatMap((command) => ("script" in command ? [command.script.source] : []));
    const sources = [...new Set(called)].filter((source) => !this.#loaded.has(source));
    if (sources.length === 0) return;
    const { url, token } = this.#gateway;
    const response = await fetch(`${url}/pipeline`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(sources.map((source) => ["SCRIPT", "LOAD", keyLocking + source])),
    });
    if (!response.ok) throw new Error(`SCRIPT LOAD: ${await response.text()}`);
    for (const source of sources) this.#loaded.add(source);
  }

  /** After Redis has forgotten all scripts. */
  forget(): void {
    this.#loaded.clear();
  }
}
