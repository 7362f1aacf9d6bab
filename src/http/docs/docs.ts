/** The documentation of the HTTP interface, from `sluice-queue/docs`. */
export interface Docs {
  /** The OpenAPI document. */
  readonly openapi: object;
  /** Makes the response of `/docs`. */
  readonly page: () => Promise<Response>;
}
