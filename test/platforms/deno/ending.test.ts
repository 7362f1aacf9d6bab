import { endsInOrder } from "../process/ending.ts";

endsInOrder("deno", "deno run --allow-net --allow-env --unstable-cron main.ts");
