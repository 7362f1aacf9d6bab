import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../near/nearest.ts";

const file = join(root, "node_modules/.cache/sluice-mutants.json");

/** Which test file noticed a mutant the last time, so that it is the first to run. */
export class Memory {
  readonly #noticedBy = new Map<string, string>(Object.entries(read()));

  noticedBy(mutant: string): string | undefined {
    return this.#noticedBy.get(mutant);
  }

  note(mutant: string, test: string | undefined): void {
    if (test === undefined) this.#noticedBy.delete(mutant);
    else this.#noticedBy.set(mutant, test);
    mkdirSync(dirname(file), { recursive: true });
    // Another run may have noted others meanwhile.
    writeFileSync(file, JSON.stringify({ ...read(), ...Object.fromEntries(this.#noticedBy) }, null, 1));
  }
}

function read(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}
