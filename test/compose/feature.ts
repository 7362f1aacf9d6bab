import type { Traces } from "../tracing/traces.ts";
import type { Front, Given } from "./front.ts";

/** What a feature promises, however a user reaches the queue. It knows only the interface of a front. */
export type Feature = (traces: Traces) => {
  readonly given: Given;
  readonly run: (front: Front) => Promise<void>;
};
