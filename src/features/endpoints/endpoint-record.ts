/** The records of an endpoint: what it is, and what becomes of its deliveries. lua/README.md specifies them. */
import { newerSchema, SluiceError } from "../../errors.ts";

/** An endpoint, as its record has it. */
export interface EndpointRecord {
  readonly url: string;
  /** Patterns of the types of events that it gets. */
  readonly types: readonly string[];
  readonly rate?: { readonly most: number; readonly per: number } | undefined;
  readonly maxWorking?: number | undefined;
  readonly order?: "strict" | undefined;
  readonly description?: string | undefined;
  /** Epoch ms. */
  readonly createdAt: number;
  /** The names of its headers. */
  readonly headers: readonly string[];
  /** The ends of its secrets, the current one first. */
  readonly secrets: readonly EndOfSecret[];
  /** Its {@link Sealed}, encoded like a payload, and encrypted if the queue is. */
  readonly sealed: string;
}

/** A secret, as far as it may be shown. */
export interface EndOfSecret {
  readonly end: string;
  /** Until when it signs, epoch ms; absent for the current one. */
  readonly until?: number | undefined;
  /** Derives from the idempotency key of the call that has made it; absent if it had none. */
  readonly by?: string | undefined;
}

/** What only deliveries read. */
export interface Sealed {
  /** In the order of their ends. */
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What becomes of the deliveries to an endpoint. */
export interface CircuitState {
  /** The last change that concerns its group. */
  readonly changed: string;
  /** Whether its group has that change. */
  readonly isApplied: boolean;
  readonly state: "closed" | "open" | "disabled";
  /** Why it is disabled. */
  readonly reason: DisabledReason | null;
  /** When it began to be so, epoch ms. */
  readonly since: number;
  /** When the first delivery failed since the last one that did not, epoch ms. */
  readonly failingSince: number | null;
  /** When deliveries are tried again, if it is open, epoch ms. */
  readonly until: number;
}

/** By an operator, because its deliveries failed for days, or because it asked for it. */
export type DisabledReason = "operator" | "failures" | "gone";

const REASONS: Readonly<Record<string, DisabledReason>> = { x: "operator", f: "failures", g: "gone" };

/** How the script `put-endpoint` takes it. */
export const ENABLE = "c";
export const DISABLE = "x";

export const writeEndpoint = (record: EndpointRecord): string => `1;${JSON.stringify(record)}`;

/** @throws {SluiceError} `newer_schema`; `unexpected_reply` if it cannot be read */
export function readEndpoint(text: string): EndpointRecord {
  requireForm(text);
  try {
    return JSON.parse(text.slice(2)) as EndpointRecord;
  } catch {
    throw new SluiceError("unexpected_reply", "the record of an endpoint cannot be read");
  }
}

/** @throws {SluiceError} `newer_schema` */
export function readState(text: string): CircuitState {
  requireForm(text);
  const [, changed = "0", applied, state = ENABLE, since, failing = "", , , , , until] = text.split(";");
  const reason = REASONS[state] ?? null;
  return {
    changed,
    isApplied: changed === applied,
    state: reason ? "disabled" : state === "o" ? "open" : "closed",
    reason,
    since: Number(since),
    failingSince: failing === "" ? null : Number(failing),
    until: Number(until),
  };
}

function requireForm(text: string): void {
  if (!text.startsWith("1;")) throw newerSchema("the record of an endpoint");
}
