import { SignUp } from "./form";

export default function Page() {
  return <SignUp />;
}
