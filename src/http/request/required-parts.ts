import { isOff } from "../parts.ts";
import { Problem } from "../problems/problem.ts";
import type { Services } from "../services.ts";

/**
 * Refuses settings with a strict order if the server has none: it could not work on the queue afterwards.
 * @throws {Problem} `unsupported`
 */
export function requireOrder({ hasOrder }: Services, settings: { readonly order?: unknown }): void {
  if (settings.order !== "strict" || hasOrder) return;
  throw new Problem("unsupported", { detail: isOff("has no strict order", "order") });
}

/**
 * Refuses what needs schedules if the server has none.
 * @throws {Problem} `unsupported`
 */
export function requireSchedules({ schedules }: Services): void {
  if (!schedules) throw new Problem("unsupported", { detail: isOff("has no schedules", "schedules") });
}
