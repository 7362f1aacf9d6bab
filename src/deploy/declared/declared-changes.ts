import type { QueueChanges, QueueSettings } from "../../operate/settings.ts";

/** What applying a declaration has changed in Redis. What did not change is absent. */
export interface DeclaredChanges {
  /** By name, the value before and after; null: unset. */
  settings?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>> | undefined;
  /** Names of the declared schedules that were written, with those that were the same before. */
  put?: readonly string[] | undefined;
  /** Names of the schedules that were removed, because the declaration no longer has them. */
  removed?: readonly string[] | undefined;
}

/** Which of the settings that a call has written differ from those before. */
export function changedSettings(
  written: QueueChanges,
  from: QueueSettings,
  to: QueueSettings,
): DeclaredChanges["settings"] {
  const names = (Object.keys(written) as (keyof QueueChanges)[]).filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  );
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, { from: from[name], to: to[name] }]));
}

/** Whether the changes have removed a schedule, unset a limit, or switched off events or statistics. */
export function takesAway({ settings = {}, removed = [] }: DeclaredChanges): boolean {
  return removed.length > 0 || Object.values(settings).some(({ to }) => to === null || to === false);
}
