/** What is under way: each upload with its bytes, how fast documents leave, and what the archive still converts. */
import { badge, lastChangeOf, storyLink } from "./documents.js";
import { byId, element, setText, sync, time } from "./dom.js";
import { bytes, percent, span } from "./format.js";
import { strings } from "./strings.js";

/** The last that the daemon said of uploads: a list that is made again shows it, too. */
let uploads = [];

/** `converting`: how many documents the archive has not converted, and since when it knows the oldest of them. */
export function showNow({ documents, settling, waiting, converting, at }, onStory) {
  sync(byId("now-list"), documents, {
    key: ({ id }) => id,
    make: (document) =>
      element(
        "li",
        {},
        badge(document.state),
        storyLink(document, onStory, document.path),
        element("progress", { max: "1", value: "0", hidden: "" }),
        element("small", { class: "moved" }),
        element("small", {}, document.mirror, " · ", time(lastChangeOf(document), at)),
      ),
  });
  showBars();
  const notes = [strings.nowNote(settling, waiting)];
  if (converting.documents > 0) notes.push(strings.converting(converting.documents), " (", time(converting.since, at), ")");
  const note = element("span", {}, ...notes);
  if (byId("now-note").textContent !== note.textContent) byId("now-note").replaceChildren(note);
  byId("now").hidden = documents.length === 0 && note.textContent === "";
}

/** Four times a second at most, while something is being sent. */
export function showUploads(told, documents) {
  uploads = told.uploads;
  showBars();
  const { pending = 0 } = documents ?? {};
  const left = pending + uploads.length;
  const parts = uploads.length === 0 ? [] : [strings.perSecond(bytes(told.bytesPerSecond))];
  if (parts.length > 0 && told.documentsPerSecond > 0 && pending > 0)
    parts.push(strings.leftFor(span((1_000 * left) / told.documentsPerSecond), left));
  setText(byId("now-rate"), parts.join(" · "));
}

function showBars() {
  for (const item of byId("now-list").children) {
    const upload = uploads.find(({ id }) => String(id) === item.dataset.key);
    const bar = item.querySelector("progress");
    bar.hidden = upload === undefined;
    const share = upload ? upload.sentBytes / Math.max(1, upload.sizeBytes) : 0;
    bar.value = share;
    const text = upload ? strings.bytesOf(bytes(upload.sentBytes), bytes(upload.sizeBytes), percent(share)) : "";
    bar.setAttribute("aria-label", text);
    setText(item.querySelector(".moved"), text);
  }
}
