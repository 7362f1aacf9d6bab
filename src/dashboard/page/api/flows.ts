/** The requests of the dashboard for flows, with about how many Redis commands each costs. */
import type * as types from "./types.ts";
import { send } from "./request.ts";

const pathOf = (id: string, rest = "") => `api/v1/flows/${encodeURIComponent(id)}${rest}`;

export const flow = (id: string, signal: AbortSignal): Promise<types.Flow> =>
  send(pathOf(id), { signal, commands: 6 });

export const cancelFlow = (id: string): Promise<types.CancelledFlow> =>
  send(pathOf(id, "/cancel"), { method: "POST", commands: 20 });

export const redriveFlow = (id: string): Promise<types.RedrivenFlow> =>
  send(pathOf(id, "/redrive"), { method: "POST", commands: 20 });
