import { readOne, type Where } from "../../features/endpoints/index.ts";
import { deadReasons, type RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { type RedriveOptions, redriveTasks } from "../../operate/redrive.ts";
import type { OpenQueue } from "../opening.ts";
import { operatedOf } from "./operated.ts";

/** Which failed deliveries are delivered again. */
export interface ReplayOptions
  extends RequestOptions, Pick<RedriveOptions, "limit" | "budget" | "cursor" | "rate" | "dryRun"> {
  /** Those that failed for good at or after this instant, epoch ms. */
  readonly since: number;
  /** Those that did so before this instant, epoch ms. @default now */
  readonly until?: number | undefined;
}

/** What was delivered again. */
export type Replayed =
  | {
      readonly ok: true;
      /** How many deliveries wait again. */
      readonly replayed: number;
      /** To continue with the option `cursor`; null if nothing is left to do. */
      readonly cursor: string | null;
      /** Deliveries that were skipped, because their records are invalid or of a newer release of Sluice. */
      readonly unreadable: number;
    }
  | { readonly ok: false; readonly code: "not_found" | "disabled" };

const OPTIONS = [
  "since",
  "until",
  "limit",
  "budget",
  "cursor",
  "rate",
  "dryRun",
  ...REQUEST_OPTIONS,
] as const;

/** Redrives dead letters of an endpoint: see `Endpoints.replay`. */
export async function replay(
  where: Where,
  open: OpenQueue,
  id: string,
  options: ReplayOptions,
): Promise<Replayed> {
  onlyOptions(options, OPTIONS);
  const { since: endedSince, until: endedUntil, ...rest } = options;
  const { endpoint } = await readOne(where, id, { signal: options.signal });
  if (!endpoint) return { ok: false, code: "not_found" };
  if (endpoint.circuit.state === "disabled") return { ok: false, code: "disabled" };
  const filter = { group: id, endedSince, endedUntil, reason: deadReasons };
  const { redriven, cursor, unreadable } = await redriveTasks(operatedOf(open), { ...rest, ...filter });
  return { ok: true, replayed: redriven, cursor, unreadable };
}
