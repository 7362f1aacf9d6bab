import { Webhook } from "standardwebhooks";

const seen = new Set<string>();

export async function receive(request: Request, secret: string): Promise<Response> {
  const body = await request.text();
  try {
    new Webhook(secret).verify(body, Object.fromEntries(request.headers));
  } catch {
    return new Response(null, { status: 401 });
  }
  const id = request.headers.get("webhook-id") ?? "";
  if (!seen.has(id)) console.log(JSON.parse(body).data.text);
  seen.add(id);
  return new Response(null, { status: 204 });
}
