import { SluiceError, type SluiceErrorCode } from "../../errors.ts";
import { type Published, PublishError } from "../../open/topics/publish.ts";
import { Connection, type ConnectionOptions, type Fetch, type ServerRequest } from "../connection.ts";

/** What the problem for a publish says of each message. */
type Partly = readonly (Omit<Published, "failed" | "reread"> & {
  readonly failed: readonly { readonly queue: string; readonly code: SluiceErrorCode }[];
})[];

/**
 * Sends a publish.
 * @throws {PublishError} if the server says that queues have no copies
 * @throws {SluiceError} otherwise
 */
export async function publishing<Reply extends object>(
  options: ConnectionOptions,
  topic: string,
  request: ServerRequest,
): Promise<Reply> {
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options;
  let last: Partly | undefined;
  const noting: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    last = response.ok ? undefined : await partlyIn(response.clone());
    return response;
  };
  try {
    return await new Connection({ ...options, fetch: noting }).request<Reply>(request);
  } catch (error) {
    if (!last || !(error instanceof SluiceError)) throw error;
    throw publishError(topic, error, last);
  }
}

/** The member `published` of a problem. */
async function partlyIn(response: Response): Promise<Partly | undefined> {
  if (!/^application\/problem\+json/i.test(response.headers.get("content-type") ?? "")) return undefined;
  try {
    const { published } = (await response.json()) as { readonly published?: Partly };
    return Array.isArray(published) ? (published as Partly) : undefined;
  } catch {
    return undefined;
  }
}

function publishError(topic: string, { code }: SluiceError, partly: Partly): PublishError {
  const published = partly.map(({ id, copies, failed }) => ({
    id,
    copies,
    failed: failed.map((one) => ({ ...one, message: `the server answered ${one.code}` })),
    reread: false,
  }));
  const first = published.flatMap(({ failed }) => failed).at(0);
  return new PublishError(topic, code, first ? `${first.queue}: ${first.message}` : code, published);
}
