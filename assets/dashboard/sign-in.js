/** The field for the token, in the place of whichever page was asked for; that one comes once it is right. */
import { strings } from "./strings.js";

const words = strings.signIn;
const byId = (id) => document.getElementById(id);

/** The page that was asked for, without what only this one is about. */
function wanted() {
  const address = new URL(location.href);
  address.searchParams.delete("token");
  // With one, the browser would stay where it is.
  address.hash = "";
  if (address.pathname === "/sign-in") address.pathname = "/";
  return address;
}

async function signIn() {
  const headers = { "content-type": "application/json", "x-scanferry": "1" };
  const body = JSON.stringify({ token: byId("token").value.trim() });
  try {
    const { ok, status } = await fetch("/sign-in", { method: "POST", headers, body });
    if (ok) location.replace(wanted());
    return ok ? "" : status === 401 ? words.wrong : words.failed(status);
  } catch {
    return strings.noAnswer;
  }
}

document.documentElement.lang = strings.lang;
document.title = `${words.title} · scanferry`;
byId("title").textContent = words.title;
byId("label").textContent = words.token;
byId("hint").textContent = words.hint;
byId("enter").textContent = words.enter;
// A wrong token stays in the address no more than a right one.
history.replaceState(null, "", wanted());
byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("enter").disabled = true;
  byId("outcome").textContent = await signIn();
  byId("enter").disabled = false;
  byId("token").select();
});
