import type { LinkedPart } from "../../open/linked-part.ts";
import type { SweptPart } from "../../open/swept-part.ts";
import type { flowSource } from "../../open/flows/flow-source.ts";
import type { App, Services } from "../services.ts";
import type { Part } from "../parts.ts";

/** The routes of flows. */
export interface FlowRoutes {
  /** Adds the routes to an app. */
  readonly mount: (app: App, services: Services) => void;
}

/** The code of flows, to turn them on. */
export interface FlowsPart extends LinkedPart, SweptPart {
  /** Gives the tasks of a consumer what concerns their flows. */
  readonly flowSource: typeof flowSource;
  /** Its routes, which may be loaded at the first request to them. */
  readonly routes: Part<FlowRoutes>;
}
