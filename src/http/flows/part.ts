import type { SweepPart } from "../../sweep/part.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { App, Services } from "../services.ts";
import type { Part } from "../parts.ts";

/** The routes of flows. */
export interface FlowRoutes {
  /** Adds the routes to an app. */
  readonly mount: (app: App, services: Services) => void;
}

/** The code of flows, to turn them on. */
export interface FlowsPart {
  /** Makes a transport with the edition of the scripts that knows flows. It returns the same one for the same transport. */
  readonly linked: (transport: Transport) => Transport;
  /** Its part of sweeps. */
  readonly sweepPart: SweepPart;
  /** Its routes, which may be loaded at the first request to them. */
  readonly routes: Part<FlowRoutes>;
}
