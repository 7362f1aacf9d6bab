import type { SchedulesPart } from "../../open/schedules/part.ts";
import type { App, Services } from "../services.ts";

/** The routes of operators, from `sluice-queue/operations`. */
export interface Operations {
  /** Adds the routes to an app. */
  readonly mount: (app: App, services: Services) => void;
  /** The schedules that its routes put. */
  readonly schedules: SchedulesPart;
}
