import { createHash, randomBytes, type Hash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { UsageError } from "../exit.ts";
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

  /**
   * Reads how far the upload is, or begins a new one.
   * @param file undefined if the progress is not to be kept
   * @throws {UsageError} if the file is not one that this class wrote, or is of another queue
   */
  constructor(file: string | undefined, queue: string) {
    this.#file = file;
    const fresh = { queue, key: randomBytes(6).toString("hex"), lines: 0, hash: this.#digest() };
    this.#progress = (file === undefined ? undefined : read(file, queue)) ?? fresh;
    if (this.#progress === fresh) this.#write();
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
      `--resume ${this.#file} is of another input: the first ${this.lines} lines differ; name a new file`,
    );
  }

  #digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Writes the file whole or not at all, so that a crash leaves the progress before. */
  #write(): void {
    if (this.#file === undefined) return;
    writeFileSync(`${this.#file}.part`, `${JSON.stringify(this.#progress)}\n`);
    renameSync(`${this.#file}.part`, this.#file);
  }
}

function read(file: string, queue: string): Progress | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const found = progressIn(text);
  if (!found) throw new UsageError(`--resume ${file} was not written by --resume; name a new file`);
  if (found.queue !== queue)
    throw new UsageError(`--resume ${file} is of the queue ${found.queue}, not ${queue}`);
  return found;
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
