import type { Hono } from "hono/tiny";
import type { RequestContext, Services, Variables } from "../../http/services.ts";
import type { Session } from "../session.ts";

/** The app of the dialect alone. */
export type DialectApp = Hono<Variables>;

/** What its routes use. */
export interface Dialect {
  /** What the request works with. */
  readonly session: (c: RequestContext) => Session;
  readonly bodyBounds: Services["bodyBounds"];
  /** How long a call that changes many messages may take, ms. */
  readonly budget: number;
}
