import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { ClosableServer } from "./node-types.ts";

/**
 * Where Node reports the connections that servers of this process accept.
 * @see https://nodejs.org/api/diagnostics_channel.html#event-netserversocket
 */
const ACCEPTED = "net.server.socket";

/** Node sets the server that has accepted it. */
type AcceptedSocket = Socket & { readonly server?: unknown };

/**
 * The connections on which no byte has come, such as those that browsers open in advance. `closeIdleConnections` of
 * Node takes them for busy until their headers are overdue, so a server that closes would wait for them.
 */
export class UnusedConnections {
  readonly #open = new Set<AcceptedSocket>();
  readonly #note = (accepted: unknown): void => {
    const { socket } = accepted as { readonly socket: AcceptedSocket };
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  };

  /** Notes connections from now on, until {@link end}. */
  constructor() {
    subscribe(ACCEPTED, this.#note);
  }

  /** Closes the unused connections of a server. */
  close(server: ClosableServer): void {
    for (const socket of this.#open) {
      if (socket.bytesRead === 0 && socket.server === server) socket.destroy();
    }
  }

  end(): void {
    unsubscribe(ACCEPTED, this.#note);
    this.#open.clear();
  }
}
