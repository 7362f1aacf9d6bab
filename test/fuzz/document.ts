import { toStringMethod } from "fast-check";
import type {
  ResponseObject,
  Content,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
} from "../../src/http/docs/openapi-document.ts";

/** One operation of the document, with its references followed but for those inside schemas. */
export interface Route {
  readonly operationId: string;
  /** In capitals. */
  readonly method: string;
  /** Such as `/v1/queues/{queue}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly schema: JsonSchema } | undefined;
  /** By status. */
  readonly answers: ReadonlyMap<number, ResponseObject>;
  /** How a failing run prints it. */
  readonly [toStringMethod]: () => string;
}

/** What the server says of itself, ready to be read. */
export class Described {
  readonly routes: readonly Route[];
  readonly #document: OpenApiDocument;
  readonly #followed = new Map<string, object>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        this.#route(path, method.toUpperCase(), operation),
      ),
    );
  }

  /** The schema that is meant: the referred one where it refers. */
  schema(schema: JsonSchema): JsonSchema {
    return schema.$ref === undefined ? schema : this.#follow(schema.$ref);
  }

  #route(path: string, method: string, operation: Operation): Route {
    const { operationId, parameters = [], requestBody, responses } = operation;
    const content = requestBody && jsonOf(requestBody.content);
    return {
      [toStringMethod]: () => operationId,
      operationId,
      method,
      path,
      parameters: parameters.map((parameter) => this.#resolved(parameter)),
      body: requestBody && content && { required: requestBody.required, schema: content.schema },
      answers: new Map(
        Object.entries(responses).map(([status, answer]) => [Number(status), this.#resolved(answer)]),
      ),
    };
  }

  #resolved<Part extends object>(part: Part | Reference): Part {
    return "$ref" in part ? (this.#follow(part.$ref) as Part) : part;
  }

  #follow(ref: string): object {
    const known = this.#followed.get(ref);
    if (known) return known;
    let found: unknown = this.#document;
    for (const name of ref.replace(/^#\//, "").split("/")) found = (found as Record<string, unknown>)[name];
    if (found === undefined) throw new Error(`${ref} leads nowhere`);
    this.#followed.set(ref, found as object);
    return found as object;
  }
}

/** What a content has as JSON. */
export const jsonOf = (content: Content) => content["application/json"];

/** Whether something is an object as JSON has it, and no array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
