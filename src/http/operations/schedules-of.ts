import type { SchedulesPart } from "../../open/schedules/part.ts";
import type { Dashboard } from "../dashboard/mount.ts";
import type { Part } from "../parts.ts";
import type { Operations } from "./operations.ts";

/** The schedules that come with the routes of operators, or the dashboard; undefined if these are loaded later. */
export function schedulesOf(given: {
  readonly operations: Part<Operations> | undefined;
  readonly dashboard: Part<Dashboard> | undefined;
}): SchedulesPart | undefined {
  const { operations, dashboard } = given;
  // They are not checked yet.
  if (typeof operations === "object") return (operations as Partial<Operations> | null)?.schedules;
  if (typeof dashboard !== "object") return undefined;
  return (dashboard as Partial<Dashboard> | null)?.operations?.schedules;
}
