// The Worker of `npm start`: that of wrangler.toml, with the dashboard.

import { sluice } from "../../serverless/cloudflare.ts";

export default sluice({ dashboard: true });
