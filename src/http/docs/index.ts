import { docsPage } from "./docs-page.ts";
import type { Docs } from "./docs.ts";
import { openapi } from "./openapi.gen.ts";

export type { Docs } from "./docs.ts";

/**
 * The documentation of the HTTP interface: the OpenAPI document at `/openapi.json`, and a page of it at `/docs`.
 * @example createApp({ transport, tokens, docs })
 */
export const docs: Docs = { openapi, page: () => docsPage(openapi) };
