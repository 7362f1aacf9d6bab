import { Grants } from "../auth/authenticator.ts";
import { parseTokens, type Scope, type TokenEntry } from "../auth/tokens.ts";
import { messageOf } from "../../errors.ts";
import { AUTHORIZE_ERROR } from "../../log/lines.ts";
import { Problem } from "../problems/problem.ts";
import type { RequestContext } from "../services.ts";
import { ownRequestOf } from "../own-request.ts";

/** What a viewer may do: as an entry of `SLUICE_TOKENS`, without its token. */
export interface Access {
  readonly scopes: readonly Scope[];
  /** The names of queues, with `*` for any characters. */
  readonly queues: string;
  /** @default "shown" */
  readonly payloads?: "shown" | "hidden";
}

/**
 * Says what the sender of a request may do in the dashboard; returns nothing, null or false if the sender may not see it. A
 * `Response`, such as a redirect to the login of the application, is the answer in place of the page. It is called for
 * each request of the page, and it alone decides: no token lets anybody in.
 * @param request has the cookies; its path is that below the mount
 * @param own of Express and Fastify: their request, which may have a `session`
 * @example authorize: async () => isAdmin(await auth()) && { scopes: ["admin"], queues: "*" }
 */
export type Authorize = (request: Request, own: never) => Decision | Promise<Decision>;

type Decision = Access | readonly Access[] | Response | false | null | undefined;

/**
 * Asks the application what the sender of a request may do.
 * @returns the grants; null if there are none; or the response in place of the page
 * @throws {Problem} `forbidden` without the scope `view`
 * @throws {AuthorizeError} if the application fails, or answers something else
 */
export async function decide(authorize: Authorize, c: RequestContext): Promise<Grants | Response | null> {
  const decision = await answerOf(authorize, c.req.raw);
  if (!decision) return null;
  // Not by its class: frameworks have classes of their own.
  if (typeof decision === "object" && "headers" in decision) return decision;
  // No token: these entries are compared with none.
  const token = crypto.randomUUID();
  const entries = [decision].flat().map((access) => ({ ...access, token }));
  const grants = new Grants(checked(entries));
  if (grants.has("view")) return grants;
  throw new Problem("forbidden", {
    detail: "The application gives the viewer neither the scope view nor admin.",
  });
}

async function answerOf(authorize: Authorize, request: Request): Promise<Decision> {
  try {
    return await authorize(request, ownRequestOf(request) as never);
  } catch (error) {
    throw new AuthorizeError(`authorize() failed: ${messageOf(error)}`, { cause: error });
  }
}

/** @throws {AuthorizeError} because it is a fault of the server, not of the request */
function checked(entries: readonly object[]): TokenEntry[] {
  try {
    return parseTokens(entries, "authorize()");
  } catch (error) {
    const expected = 'the dashboard expects { scopes: ["view"], queues: "*" }';
    throw new AuthorizeError(`${messageOf(error)}; ${expected}`, { cause: error });
  }
}

/** The application's `authorize` is at fault: the caller gets `internal`, and the log the message. */
class AuthorizeError extends Error {
  override readonly name = AUTHORIZE_ERROR;
}
