import * as v from "valibot";
import { badRequest, notFound } from "../failure.ts";
import { type Session, timeOf } from "../session.ts";
import { checkTarget } from "../target.ts";

/** A URL group, as `Records` of the kind `url-groups` keep it by its name. */
export interface UrlGroup {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endpoints: readonly UrlGroupEndpoint[];
}

export interface UrlGroupEndpoint {
  readonly url: string;
  readonly name?: string | undefined;
}

/** Most endpoints of a URL group: all of its messages are added in one request. */
const MOST = 1_000;

const NAME = /^[A-Za-z0-9._-]{1,128}$/;

const text = v.pipe(v.string(), v.nonEmpty(), v.maxLength(2_000));
const toAdd = v.object({
  endpoints: v.array(v.object({ url: text, name: v.optional(v.nullish(v.string())) })),
});
const toRemove = v.object({
  endpoints: v.array(v.object({ url: v.optional(v.nullish(text)), name: v.optional(v.nullish(v.string())) })),
});

/** A URL group as QStash shows it. */
export const shownGroup = (name: string, { createdAt, updatedAt, endpoints }: UrlGroup) => ({
  name,
  createdAt,
  updatedAt,
  endpoints,
});

/**
 * Adds endpoints to a URL group, which it creates if it does not exist. An endpoint with the URL, or with the name, of
 * one that the group has replaces it.
 * @throws {Failure} 400
 */
export async function addEndpoints(session: Session, name: string, body: unknown): Promise<void> {
  if (!NAME.test(name))
    throw badRequest(`invalid URL group name: ${name}; it must be 1 to 128 of A-Z a-z 0-9 . _ -`);
  const parsed = v.safeParse(toAdd, body);
  if (!parsed.success || parsed.output.endpoints.length === 0)
    throw badRequest(
      "invalid endpoints: the body must be { endpoints: [{ url, name? }] }, with at least one",
    );
  const added = parsed.output.endpoints.map(({ url, name: own }): UrlGroupEndpoint => ({
    url,
    ...(own && { name: own }),
  }));
  for (const { url } of added) checkTarget(url, session.settings);
  const now = timeOf(session);
  await groupsOf(session).change(name, (before) => {
    let endpoints = before?.endpoints ?? [];
    for (const one of added) {
      const isOther = ({ url, name: its }: UrlGroupEndpoint) =>
        url !== one.url && (its === undefined || its !== one.name);
      endpoints = [...endpoints.filter(isOther), one];
    }
    if (endpoints.length > MOST) throw badRequest(`URL group ${name} would have more than ${MOST} endpoints`);
    return { createdAt: before?.createdAt ?? now, updatedAt: now, endpoints };
  });
}

/**
 * Removes endpoints from a URL group, by their URLs or names. A group without endpoints is removed.
 * @throws {Failure} 400; 404 if there is no such group
 */
export async function removeEndpoints(session: Session, name: string, body: unknown): Promise<void> {
  const parsed = v.safeParse(toRemove, body);
  if (!parsed.success || !parsed.output.endpoints.every(({ url, name: own }) => url || own))
    throw badRequest(
      "invalid endpoints: the body must be { endpoints: [{ url }] } or { endpoints: [{ name }] }",
    );
  const removed = parsed.output.endpoints;
  const now = timeOf(session);
  await groupsOf(session).change(name, (before) => {
    if (!before) throw notFound(`URL group ${name}`);
    const endpoints = before.endpoints.filter(
      (one) => !removed.some(({ url, name: own }) => (url ? url === one.url : own === one.name)),
    );
    return endpoints.length === 0 ? undefined : { ...before, updatedAt: now, endpoints };
  });
}

const groupsOf = (session: Session) => session.records<UrlGroup>("url-groups");
