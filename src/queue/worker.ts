import { SluiceError } from "../errors.ts";
import { byteLength, encodeValue } from "./codec.ts";
import { milliseconds } from "./duration.ts";
import { escaped, wholeNumber } from "./names.ts";
import { asciiJson, writeWorker } from "./record.ts";
import type { Worker } from "./types.ts";

const MAX_NODE = 128;

const MAX_PROGRESS_BYTES = 1_024;

/** What the scripts are told of a worker. */
export function workerArguments(worker: Worker | undefined): { worker: string; info: string } {
  if (worker === undefined) return { worker: "", info: "" };
  if (typeof worker !== "object" || worker === null) {
    throw new SluiceError("invalid_argument", "worker must be an object with a name", "worker");
  }
  const { node = "", pid, silentAfter } = worker;
  if (typeof node !== "string" || node.length > MAX_NODE) {
    throw new SluiceError(
      "invalid_argument",
      `worker.node must be a text of at most ${MAX_NODE} characters`,
      "worker.node",
    );
  }
  const silent = silentAfter === undefined ? "" : milliseconds(silentAfter, "worker.silentAfter", { min: 1 });
  const process = pid === undefined ? "" : wholeNumber(pid, "worker.pid", 0, 2 ** 53 - 1);
  // JSON in ASCII has no line break, and `;` is escaped.
  return { worker: writeWorker(worker, "worker"), info: `${silent};${escaped(asciiJson(node))};${process}` };
}

/** Progress as a record's first line can hold it. */
export function encodeProgress(progress: unknown, path: string): string {
  encodeValue(progress, path, MAX_PROGRESS_BYTES);
  if (progress instanceof Uint8Array) {
    throw new SluiceError("invalid_argument", `${path} must be something that JSON can express`, path);
  }
  const text = `j${escaped(asciiJson(progress))}`;
  if (byteLength(text) > 6 * MAX_PROGRESS_BYTES) {
    throw new SluiceError("too_large", `${path} has more than ${MAX_PROGRESS_BYTES} bytes`, path);
  }
  return text;
}
