/** The type of an object of any realm, such as `Date` or `Map`. Those of an application's own classes are `Object`. */
export function typeOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
