import { respond } from "../respond.ts";

/**
 * The response to a request in a route of Next.js, by a deployment that is made for a Vercel Function, whose paths are
 * those of the domain. If the path is unknown, the response names the import for routes.
 */
export async function withNextHint(response: Response): Promise<Response> {
  const isProblem = response.headers.get("content-type")?.includes("problem+json");
  // That to a HEAD has no body.
  if (response.status !== 404 || !isProblem || response.body === null) return response;
  const problem = (await response.clone().json()) as { readonly code: string; readonly detail?: string };
  if (problem.code !== "no_route") return response;
  const hint =
    'Below a route of Next.js, import sluice from "sluice-queue/next" instead of "sluice-queue/vercel".';
  const detail = problem.detail === undefined ? hint : `${problem.detail} ${hint}`;
  return respond(JSON.stringify({ ...problem, detail }), 404, Object.fromEntries(response.headers));
}
