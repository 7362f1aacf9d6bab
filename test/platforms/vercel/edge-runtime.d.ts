/** The parts of edge-runtime that are used here, so that the types are checked where it is not installed. */
declare module "edge-runtime" {
  export class EdgeRuntime {
    constructor(options: { readonly initialCode: string; readonly extend: (context: object) => object });
    evaluate(code: string): unknown;
  }
  export function runServer(options: {
    readonly runtime: EdgeRuntime;
    readonly host: string;
    readonly port: number;
  }): Promise<{ close(): Promise<void> }>;
}
