/** The part of workerd's module that the tests use. */
declare module "cloudflare:workers" {
  export const env: Readonly<Record<string, string>>;
}
