// The Worker of `npm start`: that of wrangler.toml, with the dashboard and its routes, the documentation and the deep
// sweep.

import { sluice } from "../../serverless/cloudflare.ts";
import { dashboard } from "../dashboard/index.ts";
import { docs } from "../http/docs/index.ts";
import { deepSweep } from "../open/deep-sweep/index.ts";

export default sluice({ dashboard, docs, deepSweep });
