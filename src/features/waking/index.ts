export { wake, wakeForAdds } from "./layer.ts";
export { CheckedWaker, toConsole, type Waker } from "./waker.ts";
