import type { AppOptions } from "../http/app-options.ts";
import type { Authorize } from "../http/dashboard/authorize.ts";
import type { Dashboard } from "../http/dashboard/mount.ts";
import type { Operations } from "../http/operations/operations.ts";
import { schedulesOf } from "../http/operations/schedules-of.ts";
import type { Docs } from "../http/docs/docs.ts";
import type { DebouncePart } from "../features/debounce/index.ts";
import type { FlowsPart } from "../http/flows/part.ts";
import type { DeepSweep } from "../open/deep-sweep/index.ts";
import type { SchedulesPart } from "../open/schedules/part.ts";
import type { Order } from "../open/order/index.ts";
import { featureParts, mustBeCode, type FeatureOptions, type FeaturesOnDemand } from "./deployment-part.ts";

/** Options of the dashboard. */
export interface DashboardOptions {
  /** Lets the application decide who may see it, in place of the sign-in with a token. */
  readonly authorize: Authorize;
}

/** Options that turn on a part whose code is large. */
export interface PartOptions extends FeatureOptions {
  /**
   * Whether `/dashboard` shows the dashboard, a page for browsers. `true`, or its options, loads its code at the first
   * request to it; or give it, from `sluice-queue/dashboard`, such as `{ ...dashboard, authorize }`.
   * @default false
   */
  readonly dashboard?: boolean | DashboardOptions | Dashboard | undefined;
  /**
   * Whether the HTTP interface has the routes for operators, which the command line, the dashboard and metrics use.
   * `true` loads their code at the first request to them; or give it, from `sluice-queue/operations`.
   * @default true; in a Worker they come with `dashboard`, or are given
   */
  readonly operations?: boolean | Operations | undefined;
  /**
   * Whether `/openapi.json` and `/docs` show the documentation of the HTTP interface. `true` loads it at the first
   * request to it; or give it, from `sluice-queue/docs`.
   * @default true
   */
  readonly docs?: boolean | Docs | undefined;
  /**
   * Whether a request may ask for a deep sweep. `true` loads its code at the first such request; or give it, from
   * `sluice-queue/deep-sweep`.
   * @default true
   */
  readonly deepSweep?: boolean | DeepSweep | undefined;
  /**
   * Whether queues may have schedules. `true`, or give their code, from `sluice-queue/schedules`.
   * @default true; in a Worker they come with `operations` and `dashboard`, or are given
   */
  readonly schedules?: boolean | SchedulesPart | undefined;
  /**
   * Whether queues may be in strict order. `true` loads its code at their first use; or give it, from
   * `sluice-queue/order`.
   * @default true; in a Worker it must be given
   */
  readonly order?: boolean | Order | undefined;
  /**
   * Whether requests may enqueue with `debounce`, `throttle`, `singleton` and `replace`. `true` loads the code at the
   * first such request; or give it, from `sluice-queue/debounce`.
   * @default true; in a Worker it must be given
   */
  readonly debounce?: boolean | DebouncePart | undefined;
  /**
   * Whether tasks may belong to flows: turns on the routes of flows, `before` and `addBefore` of the tasks that handlers
   * get, and their part of sweeps. `true` loads its code at the first use; or give it, from `sluice-queue/flows`.
   * @default true; in a Worker it must be given
   */
  readonly flows?: boolean | FlowsPart | undefined;
}

type Parts = Pick<
  AppOptions,
  "dashboard" | "operations" | "docs" | "deepSweep" | "schedules" | "order" | "debounce" | "flows"
>;

/** Makes each part of what is given in its option: what is `true` is loaded at its first use. */
export type PartsOnDemand = FeaturesOnDemand & {
  readonly [Name in keyof Parts]-?: (
    given: Exclude<NonNullable<PartOptions[Name]>, false>,
  ) => NonNullable<Parts[Name]>;
};

/**
 * The parts of a deployment that are in a bundle only if they are turned on.
 * @param onDemand loads them; undefined if the platform has all code in one file
 * @throws {SluiceError} `invalid_argument` for `true`, if nothing loads the part
 */
export function optionalParts(options: PartOptions, onDemand: PartsOnDemand | undefined) {
  const part = <Name extends keyof Parts>(name: Name, byDefault = onDemand !== undefined): Parts[Name] => {
    const given = options[name] ?? byDefault;
    if (given === false) return undefined;
    if (onDemand) return onDemand[name](given as never) as Parts[Name];
    if (given !== true) return given as Parts[Name];
    throw mustBeCode(name, name === "deepSweep" ? "deep-sweep" : name);
  };
  const dashboard = part("dashboard", false);
  const operations = part("operations");
  return {
    dashboard,
    operations,
    schedules: part("schedules") ?? schedulesOf({ operations, dashboard }),
    docs: part("docs"),
    deepSweep: part("deepSweep"),
    order: part("order"),
    debounce: part("debounce"),
    flows: part("flows"),
    parts: featureParts(options, onDemand),
  };
}
