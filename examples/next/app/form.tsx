"use client";
import { useActionState } from "react";
import { signUp } from "./actions";

export function SignUp() {
  const [message, action] = useActionState(signUp, "");
  return (
    <form action={action}>
      <input name="to" type="email" required />
      <button>Sign up</button>
      <p>{message}</p>
    </form>
  );
}
