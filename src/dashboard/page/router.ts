import { store } from "./store.ts";

/** Where the viewer is: the parts of the path, and the query. Both are in the fragment of the URL. */
export interface Place {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { parts: parts.map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = store(placeOf(location.hash));

addEventListener("hashchange", () => place.set(placeOf(location.hash)));

/** The link to a place. Parameters that are empty are left out. */
export function linkTo(
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? "") !== "");
  const search = new URLSearchParams(given).toString();
  const path = parts.map(encodeURIComponent).join("/");
  return `#/${path}${search === "" ? "" : `?${search}`}`;
}

export const queueLink = (
  queue: string,
  tab = "",
  query: Readonly<Record<string, string | undefined>> = {},
) => linkTo(["queues", queue, ...(tab === "" ? [] : [tab])], query);

export const taskLink = (queue: string, id: string) => linkTo(["queues", queue, "tasks", id]);

export const flowLink = (id: string) => linkTo(["flows", id]);

export const goTo = (link: string) => {
  location.hash = link;
};

/** Changes where the viewer is without an entry in the history, as for each letter that is typed into a filter. */
export function replaceWith(link: string): void {
  history.replaceState(null, "", link);
  place.set(placeOf(link));
}
