/** The Python client as a caller of the model of partitions. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { Queue, type TaskInfo } from "../../../src/index.ts";
import { readMap } from "../../../src/features/partitions/map.ts";
import type { Around, Known, OtherClient } from "../../proofs/model/partitions/instance.ts";
import type { PartitionedOperation } from "../../proofs/model/partitions/operations.ts";
import type { Way } from "../../proofs/model/way.ts";
import { listening } from "../../support/listening.ts";
import { QUEUE } from "../../support/rig.ts";
import { inPython } from "./both-clients.ts";
import { PythonProcess } from "./python-process.ts";

type Settled = [ok: boolean, state: string, reason: string, at: number, cancelRequested: boolean];

export class PythonClient implements OtherClient {
  readonly known: Known = { map: undefined, scores: new Map() };
  /** How many calls it has made of each kind. */
  readonly calls = new Map<string, number>();
  readonly #way: Way;
  readonly #between: Server;
  readonly #process: PythonProcess;
  #queue!: Queue;
  #number = 0;
  #now = 0;
  #around: Around | undefined;
  #requests = 0;
  #error: unknown;

  static async start(way: Way): Promise<PythonClient> {
    const between = createServer();
    const url = `http://127.0.0.1:${await listening(between)}`;
    return new PythonClient(way, between, url);
  }

  private constructor(way: Way, between: Server, url: string) {
    this.#way = way;
    this.#between = between;
    this.#process = new PythonProcess("model_calls.py", { url, token: way.gateway.token }, QUEUE);
    between.on("request", (request: IncomingMessage, response) => {
      this.#forward(request).then(
        async (answer) => response.writeHead(answer.status).end(await answer.text()),
        () => request.socket.destroy(),
      );
    });
  }

  /** Sends a request on to the gateway. What happens around it, happens here. */
  async #forward(request: IncomingMessage): Promise<Response> {
    const body = await buffer(request);
    const { authorization = "" } = request.headers;
    try {
      await this.#around?.before?.(this.#requests++);
      const url = this.#way.gateway.url + request.url;
      return await fetch(url, { method: "POST", headers: { authorization }, body: new Uint8Array(body) });
    } finally {
      await this.#around?.afterChange().catch((error: unknown) => (this.#error = error));
    }
  }

  renew(): void {
    this.#number++;
    this.known.map = undefined;
    this.known.scores = new Map();
    this.#queue = new Queue(QUEUE, { transport: this.#way.transport(), now: () => this.#now });
  }

  offers(operation: PartitionedOperation): boolean {
    switch (operation.does) {
      case "enqueue":
        return operation.key === undefined;
      case "settle":
        return operation.pull === undefined;
      default:
        return ["dequeue", "cancel", "get", "sweep"].includes(operation.does);
    }
  }

  async call(around: Around, operation: PartitionedOperation, now: number): Promise<unknown> {
    this.calls.set(operation.does, (this.calls.get(operation.does) ?? 0) + 1);
    this.#now = now;
    this.#around = around;
    this.#requests = 0;
    const asked = { number: this.#number, now, operation: asksOf(operation) };
    const { answer, refused, known } = await this.#process.ask(asked);
    this.#around = undefined;
    if (this.#error !== undefined) throw this.#error;
    this.known.map = known.map === null ? undefined : readMap(known.map);
    if (known.scores) this.known.scores = new Map(Object.entries(known.scores));
    return refused === undefined ? this.#inTypeScript(operation, answer) : { refused };
  }

  /** What Python answers, as the library does. */
  // oxlint-disable-next-line typescript/no-explicit-any
  async #inTypeScript(operation: PartitionedOperation, answer: any): Promise<unknown> {
    switch (operation.does) {
      case "enqueue":
        return (answer as [string, boolean][]).map(([id, created]) => ({ id, created }));
      case "dequeue":
        return (answer as { group: string }[]).map((task) => ({ ...task, group: task.group || undefined }));
      case "settle":
        return operation.items.map(({ receipt }, i) => settled(receipt, answer[i]));
      case "cancel":
        return ["rejected", "working"].includes(answer)
          ? { ok: true, state: answer }
          : { ok: false, code: answer };
      case "get": {
        // The model says what the library says of a task, and so must Python.
        const info = await this.#queue.get(operation.id);
        return isDeepStrictEqual(answer, plain(info && inPython(info))) ? info : answer;
      }
      default:
        return { failed: [] };
    }
  }

  stop(): void {
    this.#process.stop();
    this.#between.close();
  }
}

/** Without what Python does not offer: a token of the caller's, and the sweep of one queue. */
function asksOf(operation: PartitionedOperation): object {
  if (operation.does === "sweep") return { does: "sweep" };
  if (operation.does !== "dequeue") return operation;
  const { max, lease } = operation.pull;
  return { does: "dequeue", pull: { max, lease } };
}

function settled(receipt: string, [ok, state, reason, at, cancelRequested]: Settled): object {
  if (!ok) return { receipt, ok, code: "lease_lost" };
  return {
    receipt,
    ok,
    state,
    ...(reason !== "" && { reason }),
    ...(state === "delayed" && { dueAt: at }),
    ...(state === "working" && { deadlineAt: at }),
    ...(cancelRequested && { cancelRequested }),
  };
}

/** As it is after a way as JSON. */
const plain = (info: object | null) => JSON.parse(JSON.stringify(info)) as Partial<TaskInfo> | null;
