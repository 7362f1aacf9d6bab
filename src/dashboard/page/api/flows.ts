/** The requests of the dashboard for flows, with about how many Redis commands each costs. */
import type * as types from "./types.ts";
import { send, spend } from "./request.ts";

const pathOf = (id: string, rest = "") => `api/v1/flows/${encodeURIComponent(id)}${rest}`;

export async function flow(id: string, signal: AbortSignal): Promise<types.Flow> {
  const found: types.Flow = await send(pathOf(id), { signal, commands: 6 });
  spend(Math.round(found.nodes.length / 45));
  return found;
}

export async function cancelFlow(id: string): Promise<types.CancelledFlow> {
  const done: types.CancelledFlow = await send(pathOf(id, "/cancel"), { method: "POST", commands: 30 });
  spend(2 * done.cancelled);
  return done;
}

export const redriveFlow = (id: string): Promise<types.RedrivenFlow> =>
  send(pathOf(id, "/redrive"), { method: "POST", commands: 8 });
