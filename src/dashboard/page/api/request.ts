import { noteServerTime } from "../clock.ts";
import { store } from "../store.ts";

/** Why a request failed, in words for the viewer. */
export class RequestError extends Error {
  /** 0 if there was no response. */
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** False once the server has refused the session. */
export const signedIn = store(true);

/** What this page has spent since it was opened. */
export const spent = store({ requests: 0, commands: 0, since: Date.now() });

/** Adds to what this page has spent. */
export function spend(commands: number, requests = 0): void {
  const { value } = spent;
  spent.set({ ...value, commands: value.commands + commands, requests: value.requests + requests });
}

/** Relative to `/dashboard`, so that it is right wherever the deployment is mounted. */
const BASE = `${location.pathname.replace(/\/$/, "")}/`;

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** The `Idempotency-Key`. */
  readonly key?: string;
  /** About how many Redis commands it costs. */
  readonly commands?: number;
}

/**
 * Sends a request to the dashboard's server.
 * @param path below `/dashboard/`
 * @throws {RequestError}
 */
export async function send<Reply>(
  path: string,
  { method = "GET", body, signal, key, commands = 0 }: Call = {},
) {
  spend(commands, 1);
  const response = await fetch(BASE + path, {
    method,
    credentials: "same-origin",
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new RequestError(0, "unreachable", "The server cannot be reached. Check the connection.");
  });
  const text = await response.text();
  if (response.ok) {
    const reply = (text === "" ? undefined : JSON.parse(text)) as Reply;
    noteServerTime(reply, response.headers.get("date"));
    return reply;
  }
  if (response.status === 401 && path !== "session") signedIn.set(false);
  throw problemOf(response.status, text);
}

/** The fields of a problem that the page shows. */
interface ProblemBody {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

function problemOf(status: number, text: string): RequestError {
  const answered = `The server responded with ${status}.`;
  try {
    const { code = "", title, detail, errors = [] } = JSON.parse(text) as ProblemBody;
    // In the words of the page: `timeZone` is its time zone.
    const wordsOf = (path: string) => path.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const fields = errors.map(({ path, message }) => `${wordsOf(path)} ${message}`);
    return new RequestError(status, code, fields.join("; ") || detail || title || answered);
  } catch {
    return new RequestError(status, "", answered);
  }
}
