import { echo } from "./apps.ts";

let app: ReturnType<typeof echo> | undefined;

export default {
  fetch(request: Request, env: { readonly ANSWERS: string }) {
    app ??= echo(JSON.parse(env.ANSWERS) as Record<string, unknown>);
    return app.fetch(request);
  },
};
