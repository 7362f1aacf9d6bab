import { printed } from "./table.ts";

console.log(printed());
