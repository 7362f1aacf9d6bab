/** The requests of the dashboard for endpoints. */
import type * as types from "./types.ts";
import { type Cursor, queryOf } from "./path.ts";
import { send } from "./request.ts";

const PATH = "api/v1/endpoints";

/** Endpoints of one page. */
const SIZE = 50;

export const endpoints = (cursor: Cursor, signal: AbortSignal): Promise<types.EndpointPage> =>
  send(PATH + queryOf({ size: SIZE, cursor }), { signal, commands: 1 });

export const turnEndpoint = (id: string, action: "disable" | "enable") =>
  send(`${PATH}/${encodeURIComponent(id)}/${action}`, { method: "POST", commands: 20 });

/** Replays some of the deliveries. @param cursor of the reply before */
export const replayStep = (
  id: string,
  body: { readonly since: number; readonly cursor?: string },
): Promise<types.Replayed> =>
  send(`${PATH}/${encodeURIComponent(id)}/replay`, { method: "POST", body, commands: 13 });
