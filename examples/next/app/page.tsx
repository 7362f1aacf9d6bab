import { signUp } from "./actions";

export default function Page() {
  return (
    <form action={signUp}>
      <input name="to" type="email" required />
      <button>Sign up</button>
    </form>
  );
}
