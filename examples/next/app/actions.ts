"use server";
import { SluiceError } from "sluice-queue";
import { emails, queue } from "@/lib/queue";
// In a client component: const [message, action] = useActionState(signUp, "");
export async function signUp(_: string, form: FormData) {
  const to = form.get("to") as string;
  const options = { id: `welcome-${encodeURIComponent(to)}`, signal: AbortSignal.timeout(2_000) };
  try {
    await queue(emails).enqueue({ to }, options);
    return "A mail is on its way.";
  } catch (error) {
    if (error instanceof SluiceError && error.issues) return `Invalid: ${error.issues[0]?.message}`;
    console.error(error); // such as a Redis that does not answer
    return "Please try again later.";
  }
}
