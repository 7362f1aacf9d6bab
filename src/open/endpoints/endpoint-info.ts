import type { CircuitState, DisabledReason, Registered } from "../../features/endpoints/index.ts";
import type { Rate } from "../../operate/settings.ts";

/** An endpoint, without what is secret. Instants are epoch ms. */
export interface EndpointInfo {
  readonly id: string;
  readonly url: string;
  /** The types of the events that it gets, and patterns of them. */
  readonly types: readonly string[];
  readonly description: string | null;
  readonly rate: Rate<number> | null;
  readonly maxWorking: number | null;
  readonly order: "strict" | null;
  /** The names of its headers. */
  readonly headers: readonly string[];
  /** The secrets that sign its deliveries, the current one first. */
  readonly secrets: readonly SecretInfo[];
  readonly createdAt: number;
  /**
   * `"active"`; `"failing"` if its last delivery failed; `"open"` while deliveries pause because they fail, and are tried
   * one at a time; `"disabled"`.
   */
  readonly state: "active" | "failing" | "open" | "disabled";
  /** Why it is disabled; null if it is not. */
  readonly disabledReason: DisabledReason | null;
  readonly disabledAt: number | null;
  /** When the first delivery failed since the last one that did not; null if the last one did not. */
  readonly failingSince: number | null;
  /** Of an open one, when a delivery is tried again; else null. */
  readonly retryAt: number | null;
}

/** A secret, as far as it is shown. */
export interface SecretInfo {
  /** Its last four characters. */
  readonly endsWith: string;
  /** Until when it signs; null for the current one. */
  readonly validUntil: number | null;
}

/** @param now epoch ms */
export function endpointInfo({ id, record, circuit }: Registered, now: number): EndpointInfo {
  const { url, types, headers, createdAt } = record;
  const isDisabled = circuit.state === "disabled";
  return {
    id,
    url,
    types,
    description: record.description ?? null,
    rate: record.rate ?? null,
    maxWorking: record.maxWorking ?? null,
    order: record.order ?? null,
    headers,
    secrets: record.secrets
      .filter(({ until = now + 1 }) => until > now)
      .map(({ end, until = null }) => ({ endsWith: end, validUntil: until })),
    createdAt,
    state: stateOf(circuit),
    disabledReason: circuit.reason,
    disabledAt: isDisabled ? circuit.since : null,
    failingSince: circuit.failingSince,
    retryAt: circuit.state === "open" ? circuit.until : null,
  };
}

function stateOf({ state, failingSince }: CircuitState): EndpointInfo["state"] {
  if (state !== "closed") return state;
  return failingSince === null ? "active" : "failing";
}
