import type { App, Services } from "../services.ts";

/** The routes of operators, from `sluice-queue/operations`. */
export interface Operations {
  /** Adds the routes to an app. */
  readonly mount: (app: App, services: Services) => void;
}
