import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { UsageError } from "../exit.ts";

/** How far an upload is. */
export interface Progress {
  readonly queue: string;
  /** The beginning of the ids of its tasks. */
  readonly key: string;
  /** How many lines of the input are enqueued. */
  readonly lines: number;
}

/**
 * Reads how far an upload is.
 * @param file undefined if it is not to be kept
 * @throws {UsageError} if the file is not one that {@link keepProgress} wrote, or is of another queue
 */
export function readProgress(file: string | undefined, queue: string): Progress {
  const fresh = { queue, key: randomBytes(6).toString("hex"), lines: 0 };
  if (file === undefined) return fresh;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    keepProgress(file, fresh);
    return fresh;
  }
  const kept = progressIn(text);
  if (!kept) throw new UsageError(`--resume ${file}: this is not the progress of an upload; name a new file`);
  if (kept.queue !== queue)
    throw new UsageError(`--resume ${file} is of the queue ${kept.queue}, not ${queue}`);
  return kept;
}

/** Writes the file whole or not at all, so that a crash leaves the progress before. */
export function keepProgress(file: string, progress: Progress): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(progress)}\n`);
  renameSync(`${file}.part`, file);
}

function progressIn(text: string): Progress | undefined {
  try {
    const { queue, key, lines } = JSON.parse(text) as Partial<Progress>;
    const valid =
      typeof queue === "string" && /^[0-9a-f]{12}$/.test(key ?? "") && Number.isSafeInteger(lines);
    return valid ? ({ queue, key, lines } as Progress) : undefined;
  } catch {
    return undefined;
  }
}
