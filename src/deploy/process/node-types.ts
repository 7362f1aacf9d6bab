// What is used of Node's types, and of an application's server. The declarations of the package need no types of Node.

/** A request of Node's HTTP server. */
export interface NodeRequest {
  url?: string | undefined;
  readonly rawHeaders: string[];
}

/** The response to such a request. */
export interface NodeResponse {
  readonly headersSent: boolean;
}

/** An HTTP server of Node, which can be closed. One of HTTP/2 cannot close its idle connections. */
export interface ClosableServer {
  close(): unknown;
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
  once(event: "close", listener: () => void): unknown;
}
