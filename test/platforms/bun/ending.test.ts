import { endsInOrder } from "../process/ending.ts";

endsInOrder("bun", "bun main.ts");
