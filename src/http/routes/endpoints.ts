import type { RequestOptions } from "../../kernel/options/types.ts";
import { type EndpointInfo, Endpoints } from "../../open/endpoints/index.ts";
import { opening } from "../../open/opening.ts";
import type { AppRoutes } from "../app-part.ts";
import { forbidden } from "../auth/authenticator.ts";
import type { Scope } from "../auth/tokens.ts";
import type { EndpointsPart } from "../endpoints/part.ts";
import { invalid, Problem } from "../problems/problem.ts";
import { budgetOf, noFields, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import * as schemas from "../request-schemas/endpoints.ts";
import type * as replies from "../response-schemas/endpoints.ts";
import { reply } from "../responses/reply.ts";
import type { RequestContext } from "../services.ts";

const PATH = "/v1/endpoints";
const ONE = `${PATH}/:endpoint`;

/** The routes of endpoints. They are loaded at the first request to one of them. */
export const endpointRoutes = ({ queue, open }: Pick<EndpointsPart, "queue" | "open">): AppRoutes => ({
  mount(app, services) {
    const { allow } = services;

    /** The endpoints, if the caller has one of the scopes for the queue of the deliveries. */
    const endpoints = (c: RequestContext, ...scopes: Scope[]): Endpoints => {
      const grants = c.get("grants");
      if (!scopes.some((scope) => grants.allows(scope, queue))) throw forbidden(scopes, queue);
      // Secrets, and the events that are sent, are encrypted as the queue is declared.
      return open(opening({ ...services.optionsOf(c), encryption: undefined }));
    };
    const idOf = (c: RequestContext) => readPath(c, schemas.endpointInPath).endpoint;

    app.get(PATH, allow("view"), async (c) => {
      const page = readQuery(c, schemas.endpointsQuery);
      const listed = await endpoints(c, "view").list(page);
      return reply<typeof replies.endpoints>({ queue, ...listed });
    });

    app.post(PATH, allow("admin"), async (c) => {
      const options = requestOptions(c);
      const body = await readBody(c, services, schemas.newEndpoint);
      const to = endpoints(c, "admin");
      const added = await to.add(body, options);
      const known = added.ok ? added.endpoint : await to.get(body.id ?? "");
      // It may have been removed meanwhile.
      if (!known) throw notFound();
      const shown = { ...known, created: added.ok, ...(added.ok && { secret: added.secret }) };
      const location = `endpoints/${known.id}`;
      return reply<typeof replies.endpointAdded>(shown, added.ok ? 201 : 200, { location });
    });

    app.post(`${PATH}/send`, allow("enqueue"), async (c) => {
      const options = requestOptions(c);
      const event = await readBody(c, services, schemas.newEvent);
      const sent = await endpoints(c, "enqueue").send(event, options);
      return reply<typeof replies.sent>(sent, sent.deliveries.some(({ created }) => created) ? 201 : 200);
    });

    app.get(ONE, allow("view"), async (c) => {
      readQuery(c);
      return found(await endpoints(c, "view").get(idOf(c)));
    });

    app.patch(ONE, allow("admin"), async (c) => {
      const options = requestOptions(c);
      const id = idOf(c);
      const changes = await readBody(c, services, schemas.endpointChanges);
      return found(await endpoints(c, "admin").change(id, changes, options));
    });

    app.delete(ONE, allow("admin"), async (c) => {
      const options = requestOptions(c);
      const id = idOf(c);
      if (!(await endpoints(c, "admin").remove(id, options))) throw notFound();
      return reply<typeof replies.endpointRemoved>({ id, removed: true });
    });

    type Change = (to: Endpoints, id: string, options: RequestOptions) => Promise<EndpointInfo | null>;
    const changing = (name: string, change: Change) =>
      app.post(`${ONE}/${name}`, allow("admin"), async (c) => {
        const options = requestOptions(c);
        const id = idOf(c);
        await readBody(c, services, noFields, "optional");
        return found(await change(endpoints(c, "admin"), id, options));
      });
    changing("disable", (to, id, options) => to.disable(id, options));
    changing("enable", (to, id, options) => to.enable(id, options));

    app.post(`${ONE}/rotate`, allow("admin"), async (c) => {
      const options = requestOptions(c);
      const id = idOf(c);
      const body = await readBody(c, services, schemas.rotation, "optional");
      const rotated = await endpoints(c, "admin").rotate(id, { ...body, ...options });
      if (!rotated) throw notFound();
      return reply<typeof replies.endpointWithSecret>({ ...rotated.endpoint, secret: rotated.secret });
    });

    app.post(`${ONE}/replay`, allow("admin"), async (c) => {
      const options = requestOptions(c);
      const id = idOf(c);
      const { budget, ...body } = await readBody(c, services, schemas.replay);
      const within = budgetOf(services, budget);
      const done = await endpoints(c, "admin").replay(id, { ...body, ...options, budget: within });
      if (done.ok) {
        const { replayed, cursor, unreadable } = done;
        return reply<typeof replies.replayed>({ replayed, cursor, unreadable });
      }
      if (done.code === "not_found") throw notFound();
      throw invalid("endpoint", "is disabled; enable it first");
    });
  },
});

/** @throws {Problem} `not_found` */
function found(endpoint: EndpointInfo | null): Response {
  if (!endpoint) throw notFound();
  return reply<typeof replies.endpoint>(endpoint);
}

const notFound = () => new Problem("not_found", { detail: "There is no endpoint with this id." });
