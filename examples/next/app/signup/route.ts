import { emails, queue } from "@/lib/queue";

// The producer: /signup?to=a@example.com. The id prevents a second mail if the URL is called again that day.
export async function GET(request: Request) {
  const { pathname, searchParams } = new URL(request.url);
  const to = searchParams.get("to");
  if (pathname !== "/signup" || !to) return new Response("/signup?to=…", { status: 404 });
  const options = { id: `welcome-${encodeURIComponent(to)}` };
  const { id, created } = await queue(emails).enqueue({ to }, options);
  return Response.json({ id, created }, { status: created ? 201 : 200 });
}
