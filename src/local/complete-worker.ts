// The Worker of `npm start`: that of wrangler.toml, with the dashboard and its routes, and all other parts.

import { sluice } from "../../serverless/cloudflare.ts";
import { dashboard } from "../dashboard/index.ts";
import { debounce } from "../features/debounce/index.ts";
import { docs } from "../http/docs/index.ts";
import { endpoints } from "../http/endpoints/index.ts";
import { flows } from "../http/flows/index.ts";
import { topics } from "../http/topics/index.ts";
import { deepSweep } from "../open/deep-sweep/index.ts";
import { order } from "../open/order/index.ts";

export default sluice({ dashboard, docs, deepSweep, order, debounce, flows, topics, endpoints });
