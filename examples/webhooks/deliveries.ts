import { closeSync, openSync, readSync } from "node:fs";

/** One line of the receivers' file: a request, and the status of its response. */
export interface ReceivedRequest {
  readonly receiver: string;
  readonly event: string;
  readonly attempt: number;
  readonly status: number;
  /** The consumer run that sent it. */
  readonly by: string;
  /** Digest of the body. */
  readonly body: string;
  /** Epoch ms. */
  readonly at: number;
}

export const isAccepted = ({ status }: ReceivedRequest) => status >= 200 && status < 300;

/** Reads a growing file of JSON lines. */
export class Deliveries {
  readonly #file: string;
  #offset = 0;
  #rest = Buffer.alloc(0);
  readonly all: ReceivedRequest[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads what was added since the last call. */
  read(): ReceivedRequest[] {
    const added: ReceivedRequest[] = [];
    const file = openSync(this.#file, "r");
    try {
      const chunk = Buffer.alloc(1 << 16);
      for (let size = 1; size > 0;) {
        size = readSync(file, chunk, 0, chunk.length, this.#offset);
        this.#offset += size;
        this.#rest = Buffer.concat([this.#rest, chunk.subarray(0, size)]);
        // The last line may be incomplete.
        const end = this.#rest.lastIndexOf("\n") + 1;
        const lines = this.#rest.subarray(0, end).toString().split("\n").filter(Boolean);
        this.#rest = this.#rest.subarray(end);
        added.push(...lines.map((line) => JSON.parse(line) as ReceivedRequest));
      }
    } finally {
      closeSync(file);
    }
    this.all.push(...added);
    return added;
  }
}
