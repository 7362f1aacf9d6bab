import type { Dashboard } from "../http/dashboard/mount.ts";
import { endpoints } from "../http/endpoints/index.ts";
import { flows } from "../http/flows/index.ts";
import type { Part } from "../http/parts.ts";
import { topics } from "../http/topics/index.ts";
import { debounce } from "../features/debounce/index.ts";
import { invalidArgument } from "../errors.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import { schedules } from "../open/schedules/index.ts";
import { order } from "../open/order/index.ts";
import { qstash } from "../qstash/index.ts";
import type { DashboardOptions, PartsOnDemand } from "./optional-parts.ts";

const loadDashboard = async () => (await import("../dashboard/index.ts")).dashboard;

const orLoad =
  <T>(load: () => Promise<T>) =>
  (given: true | T): Part<T> =>
    given === true ? load : given;

/** Of a part that itself loads what is large. */
const orOwn =
  <T>(own: T) =>
  (given: true | T): T =>
    given === true ? own : given;

/** The optional parts, for platforms whose bundles load code on demand: each is loaded at its first use. */
export const onDemand: PartsOnDemand = {
  dashboard: (given) =>
    typeof given === "object" && !("answer" in given) ? dashboardWith(given) : orLoad(loadDashboard)(given),
  operations: orLoad(async () => (await import("../http/operations/index.ts")).operations),
  docs: orLoad(async () => (await import("../http/docs/index.ts")).docs),
  deepSweep: orLoad(async () => (await import("../open/deep-sweep/index.ts")).deepSweep),
  schedules: orOwn(schedules),
  order: orOwn(order),
  debounce: orOwn(debounce),
  flows: orOwn(flows),
  endpoints: orOwn(endpoints),
  topics: orOwn(topics),
  qstash,
};

/** @throws {SluiceError} `invalid_argument` */
function dashboardWith(options: DashboardOptions): () => Promise<Dashboard> {
  onlyOptions(options, ["authorize"], "dashboard.");
  const { authorize } = options;
  if (typeof authorize !== "function") throw invalidArgument("dashboard.authorize", "must be a function");
  return async () => ({ ...(await loadDashboard()), authorize });
}
