import { SluiceError } from "../../errors.ts";
import { Refusal } from "../exit.ts";
import type { Line } from "./lines.ts";

/** The error of a request that was made of lines, with the line instead of the place in the request. */
export function withLine(error: unknown, lines: readonly Line[]): unknown {
  if (!(error instanceof SluiceError)) return error;
  const place = /^(?:tasks|settlements)\[(\d+)\]/.exec(error.path ?? "");
  const line = place ? lines[Number(place[1])] : undefined;
  if (!line) return error;
  const message = error.message.replace(/^.*?(?:tasks|settlements)\[\d+\]\.?/, "");
  return new Refusal(`line ${line.number}: ${message.trim()}`);
}
