import {
  Connection,
  type ConnectionOptions,
  type Fetch,
  type ServerRequest,
} from "../../client/connection.ts";
import { ClientQueue } from "../../client/queue.ts";
import { createTopicClient, type TopicClient } from "../../client/topics/index.ts";
import { given } from "../../pick.ts";
import type { PublishedEvent } from "../../kernel/tasks/events.ts";

/** For the next page; null after the last. */
interface Cursor {
  readonly cursor: string | null;
}

/** The query of a request. Undefined values are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiOptions extends ConnectionOptions {
  readonly url: string;
  readonly token: string;
  readonly fetch: Fetch;
  /** What the commands talk to, for messages: `https://queue.example.com`, or `the database at …`. */
  readonly name: string;
  /** True if the HTTP interface runs in this process. */
  readonly isDatabase: boolean;
  /** False if no consumer is woken when a task becomes pending. */
  readonly wakes: boolean;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  /** Replaces an error by one that says more. @default the error itself */
  readonly explain?: (error: unknown) => unknown;
  readonly close?: () => Promise<void>;
}

/** The HTTP interface, of a deployment or in this process. Every command of the operator uses it. */
export class Api {
  readonly name: string;
  readonly isDatabase: boolean;
  readonly wakes: boolean;
  readonly #options: ApiOptions;
  readonly #connection: Connection;

  constructor(options: ApiOptions) {
    const { url, token, fetch, retry } = options;
    this.name = options.name;
    this.isDatabase = options.isDatabase;
    this.wakes = options.wakes;
    this.#options = options;
    this.#connection = new Connection({ url, token, fetch, retry });
  }

  /**
   * Sends a GET.
   * @param replyField a field that every reply has
   * @throws {SluiceError}
   */
  get<Reply extends object>(path: string, replyField: string, query: Query = {}): Promise<Reply> {
    return this.#request({ method: "GET", path: withQuery(path, query), replyField });
  }

  /**
   * Sends a GET for each page of a list.
   * @param replyField a field that every page has
   * @throws {SluiceError}
   */
  async *pages<Page extends object>(
    path: string,
    replyField: string,
    query: Query = {},
  ): AsyncGenerator<Page & Cursor, void> {
    let cursor: string | undefined;
    do {
      const page = await this.get<Page & Cursor>(path, replyField, { ...query, cursor });
      yield page;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /**
   * Sends a GET for something that may not exist.
   * @returns null if it does not
   * @throws {SluiceError}
   */
  async find<Reply extends object>(
    path: string,
    replyField: string,
    query: Query = {},
  ): Promise<Reply | null> {
    const found = await this.#explained(() =>
      this.#connection.request<Reply, "not_found">(
        { method: "GET", path: withQuery(path, query), replyField, options: this.#signal },
        ["not_found"],
      ),
    );
    return found === "not_found" ? null : found;
  }

  /**
   * Sends a POST, PUT, PATCH or DELETE.
   * @param wait how long the server was asked to work, ms
   * @throws {SluiceError}
   */
  send<Reply extends object>(
    method: Exclude<ServerRequest["method"], "GET">,
    path: string,
    replyField: string,
    body: object = {},
    wait = 0,
  ): Promise<Reply> {
    const json = JSON.stringify(body);
    return this.#request({
      method,
      path,
      replyField,
      wait,
      ...(method !== "DELETE" && { body: () => json }),
    });
  }

  /**
   * Sends a POST that may be refused.
   * @param refusals the codes that are expected
   * @returns the code of a refusal; null if it was done
   * @throws {SluiceError}
   */
  async refusalOf<Code extends string>(
    path: string,
    replyField: string,
    refusals: readonly Code[],
  ): Promise<Code | null> {
    const replied = await this.sendOrRefused<object, Code>(path, replyField, refusals);
    return typeof replied === "string" ? replied : null;
  }

  /**
   * As {@link refusalOf}.
   * @returns the reply, or the code of a refusal
   * @throws {SluiceError}
   */
  sendOrRefused<Reply extends object, Code extends string>(
    path: string,
    replyField: string,
    refusals: readonly Code[],
  ): Promise<Reply | Code> {
    return this.#explained(() =>
      this.#connection.request<Reply, Code>(
        { method: "POST", path, replyField, body: () => "{}", options: this.#signal },
        refusals,
      ),
    );
  }

  /** A queue whose payloads are not decrypted. */
  queue(name: string): ClientQueue {
    return new ClientQueue(this.#connection, name, { encryption: null });
  }

  get topics(): TopicClient {
    const { url, token, fetch, retry } = this.#options;
    return createTopicClient({ url, token, fetch, retry });
  }

  /** Runs calls of {@link queue} and {@link topics} with the same errors as the calls of this class. */
  run<T>(call: (options: { readonly signal: AbortSignal }) => Promise<T>): Promise<T> {
    return this.#explained(() => call(this.#signal));
  }

  /**
   * Follows the events of a queue until Ctrl-C or the signal.
   * @throws {SluiceError} if the server refuses the stream
   */
  async *events(queue: string, until: AbortSignal): AsyncGenerator<PublishedEvent, void> {
    const signal = AbortSignal.any([this.#options.signal, until]);
    try {
      yield* await this.queue(queue).events({ signal, warn: false });
    } catch (error) {
      if (!signal.aborted) throw this.#options.explain?.(error) ?? error;
    }
  }

  async close(): Promise<void> {
    await this.#options.close?.();
  }

  get #signal() {
    return { signal: this.#options.signal };
  }

  #request<Reply extends object>(request: Omit<ServerRequest, "options">): Promise<Reply> {
    return this.#explained(() => this.#connection.request<Reply>({ ...request, options: this.#signal }));
  }

  async #explained<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#options.explain?.(error) ?? error;
    }
  }
}

function withQuery(path: string, query: Query): string {
  const text = new URLSearchParams(
    Object.entries(given(query)).map(([name, value]) => [name, String(value)]),
  ).toString();
  return text === "" ? path : `${path}?${text}`;
}
