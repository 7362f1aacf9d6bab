import { createHash, randomBytes, type Hash } from "node:crypto";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { messageOf } from "../../errors.ts";
import { Refusal, UsageError } from "../exit.ts";
import type { Line } from "./lines.ts";

/** How far an upload is. */
interface Progress {
  readonly queue: string;
  /** The beginning of the ids of its tasks. */
  readonly key: string;
  /** How many lines of the input are enqueued. */
  readonly lines: number;
  /** A hash of these lines. */
  readonly hash: string;
}

/** How far an upload is, kept in a file if one is named. */
export class ResumeFile {
  readonly #file: string | undefined;
  readonly #hash: Hash = createHash("sha256");
  #progress: Progress;
  /** When an earlier run last wrote the progress, epoch ms. Undefined as soon as this run has written it. */
  #earlierAt: number | undefined;

  /**
   * Reads how far the upload is, or begins a new one.
   * @param file undefined if the progress is not to be kept
   * @throws {UsageError} if the file is not one that this class wrote, or is of another queue
   */
  constructor(file: string | undefined, queue: string) {
    this.#file = file;
    const fresh = { queue, key: randomBytes(6).toString("hex"), lines: 0, hash: this.#digest() };
    const found = file === undefined ? undefined : read(file, queue);
    this.#progress = found?.progress ?? fresh;
    this.#earlierAt = found?.writtenAt;
    try {
      if (!found) this.#write();
    } catch (error) {
      throw new UsageError(messageOf(error));
    }
  }

  get key(): string {
    return this.#progress.key;
  }

  /** How many lines of the input are enqueued. */
  get lines(): number {
    return this.#progress.lines;
  }

  /** Passes over a line that an earlier run has enqueued. */
  skip({ text }: Line): void {
    this.#hash.update(`${text}\n`);
  }

  /** Keeps that the next lines are enqueued. */
  take(lines: readonly Line[]): void {
    for (const line of lines) this.skip(line);
    this.#earlierAt = undefined;
    this.#progress = {
      ...this.#progress,
      lines: lines.at(-1)?.number ?? this.lines,
      hash: this.#digest(),
    };
    this.#write();
  }

  /**
   * Checks, after the lines of an earlier run, that they were the same.
   * @throws {UsageError}
   */
  check(): void {
    if (this.#digest() === this.#progress.hash) return;
    throw new UsageError(
      `--resume ${this.#file} is of another input: the first ${this.lines} lines are not the same; name a new file`,
    );
  }

  /**
   * Checks that Redis still refuses the ids of an earlier run's last request, of which the run perhaps did not learn
   * the outcome.
   * @param refusedFor how long Redis refuses them, ms
   * @throws {UsageError}
   */
  checkAge(refusedFor: number): void {
    if (this.#earlierAt === undefined || Date.now() - this.#earlierAt < refusedFor) return;
    const hours = refusedFor / 3_600_000;
    const done = this.lines === 0 ? "No line is" : `Lines 1 to ${this.lines} are`;
    throw new UsageError(
      `--resume ${this.#file}: its last run was more than ${hours} hours ago, so lines could be enqueued twice. ${done} known to be enqueued, and up to 500 more perhaps are. Find out, then enqueue the others with a new file, such as with tail -n +${this.lines + 1}`,
    );
  }

  #digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Writes the file whole or not at all, so that a crash leaves the progress before. */
  #write(): void {
    if (this.#file === undefined) return;
    try {
      writeFileSync(`${this.#file}.part`, `${JSON.stringify(this.#progress)}\n`);
      renameSync(`${this.#file}.part`, this.#file);
    } catch (error) {
      throw new Refusal(`--resume ${this.#file} cannot be written: ${messageOf(error)}`);
    }
  }
}

function read(
  file: string,
  queue: string,
): { readonly progress: Progress; readonly writtenAt: number } | undefined {
  let text: string;
  let writtenAt: number;
  try {
    text = readFileSync(file, "utf8");
    writtenAt = statSync(file).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const found = progressIn(text);
  if (!found) throw new UsageError(`--resume ${file} was not written by --resume; name a new file`);
  if (found.queue !== queue)
    throw new UsageError(`--resume ${file} is of the queue ${found.queue}, not ${queue}`);
  return { progress: found, writtenAt };
}

function progressIn(text: string): Progress | undefined {
  try {
    const { queue, key, lines, hash } = JSON.parse(text) as Partial<Progress>;
    const valid =
      typeof queue === "string" &&
      /^[0-9a-f]{12}$/.test(key ?? "") &&
      /^[0-9a-f]{64}$/.test(hash ?? "") &&
      Number.isSafeInteger(lines);
    return valid ? ({ queue, key, lines, hash } as Progress) : undefined;
  } catch {
    return undefined;
  }
}
