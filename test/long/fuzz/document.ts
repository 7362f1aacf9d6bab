import { toStringMethod } from "fast-check";
import type {
  ResponseObject,
  Content,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
} from "../../../src/http/docs/openapi-document.ts";

/** One operation of the document, with its references resolved, except those inside schemas. */
export interface Route {
  readonly operationId: string;
  /** In capitals. */
  readonly method: string;
  /** Such as `/v1/queues/{queue}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly schema: JsonSchema } | undefined;
  /** What is documented for a status: for itself, or else for all of its class, such as `4XX`. */
  readonly answer: (status: number) => ResponseObject | undefined;
  /** How a failing run prints it. */
  readonly [toStringMethod]: () => string;
}

/** The server's own document, parsed. */
export class Described {
  readonly routes: readonly Route[];
  /** Those of the API, which take a token. */
  readonly api: readonly Route[];
  /** The named schemas. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly #document: OpenApiDocument;
  readonly #followed = new Map<string, object>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        this.#route(path, method.toUpperCase(), operation),
      ),
    );
    this.api = this.routes.filter(({ path }) => path.startsWith("/v1/"));
    this.schemas = document.components.schemas;
  }

  /** The schema itself, or the one that it refers to. */
  schema(schema: JsonSchema): JsonSchema {
    return schema.$ref === undefined ? schema : this.#follow(schema.$ref);
  }

  #route(path: string, method: string, operation: Operation): Route {
    const { operationId, parameters = [], requestBody, responses } = operation;
    const content = requestBody && jsonOf(requestBody.content);
    const answerOf = (status: string) => responses[status] && this.#resolved(responses[status]);
    return {
      [toStringMethod]: () => operationId,
      operationId,
      method,
      path,
      parameters: parameters.map((parameter) => this.#resolved(parameter)),
      body: requestBody && content && { required: requestBody.required, schema: content.schema },
      answer: (status) => answerOf(`${status}`) ?? answerOf(`${Math.floor(status / 100)}XX`),
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

/** The JSON schema of a content. */
export const jsonOf = (content: Content) => content["application/json"];

/** Whether a value is a JSON object, and no array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
