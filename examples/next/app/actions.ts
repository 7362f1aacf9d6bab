"use server";

import { emails, queue } from "@/lib/queue";

export async function signUp(form: FormData) {
  const to = form.get("to");
  if (typeof to === "string") await queue(emails).enqueue({ to });
}
