import type { SweptPart } from "../open/swept-part.ts";
import type { Part } from "./parts.ts";
import type { App, Services } from "./services.ts";

/** The routes of a feature. */
export interface AppRoutes {
  /** Adds the routes to an app. */
  readonly mount: (app: App, services: Services) => void;
}

/** A feature that an app has if it is given: its routes, and what it does in sweeps. */
export interface AppPart extends Partial<SweptPart> {
  /** The paths of its routes, such as `/v1/topics/*`. */
  readonly paths: readonly string[];
  /** Its routes, or a function that loads them at the first request to one of the paths. */
  readonly routes: Part<AppRoutes>;
  /**
   * Whether it answers everything below its paths itself, and knows who may call: the app then checks neither.
   * @default false
   */
  readonly isApart?: boolean | undefined;
}
