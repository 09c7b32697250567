/** The line to the daemon: questions, requests, and the stream of events with its stand-in. */
import { strings } from "./strings.js";

const POLL_MS = 5_000;
const RECONNECT_MS = 30_000;
const UNSEEN_POLL_MS = 30_000;

/** A refusal of the daemon, in its words. */
class Refused extends Error {
  constructor(status, error) {
    super(error ? strings.refusalOf(error) : `HTTP ${status}`);
    this.status = status;
  }
}

/** Asks for JSON; throws what the daemon refused, or that it cannot be reached. */
export async function ask(path) {
  return answerOf(await fetch(path, { headers: { accept: "application/json" } }));
}

/** Asks for a change. */
export async function tell(path, body = {}) {
  const headers = { "content-type": "application/json", "x-scanferry": "1" };
  return answerOf(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answerOf(response) {
  const answer = await response.json().catch(() => undefined);
  if (!response.ok) throw new Refused(response.status, answer?.error);
  return answer;
}

/**
 * Follows the daemon. `onStatus` gets snapshots, `onProblem` a message, `onLine` how the line is:
 * `live`, `polling` (the daemon has no place for another live page), `refused` or `lost`.
 */
export function follow({ onStatus, onProblem, onLine }) {
  let source;
  let reconnecting;
  let polling;

  function listen() {
    source = new EventSource("/api/events");
    source.addEventListener("status", (event) => {
      clearInterval(polling);
      polling = undefined;
      onLine("live");
      onStatus(JSON.parse(event.data));
    });
    source.addEventListener("problem", (event) => onProblem(JSON.parse(event.data).message));
    source.addEventListener("error", () => {
      polling ??= setInterval(poll, POLL_MS);
      poll();
      // A refused stream is closed for good by the browser; a broken one comes back automatically.
      if (source.readyState === EventSource.CLOSED)
        reconnecting = setTimeout(listen, RECONNECT_MS);
    });
  }

  async function poll() {
    try {
      const snapshot = await ask("/api/status");
      onLine("polling");
      onStatus(snapshot);
    } catch (error) {
      if (error.status === undefined) return onLine("lost");
      onLine(error.status === 401 ? "refused" : "polling");
      if (error.status !== 401) onProblem(error.message);
    }
  }

  /** A browser has six lines to a host, for all its tabs: one that nobody sees keeps none of them. */
  function attend() {
    source?.close();
    clearTimeout(reconnecting);
    clearInterval(polling);
    polling = document.hidden ? setInterval(poll, UNSEEN_POLL_MS) : undefined;
    if (document.hidden) poll();
    else listen();
  }

  document.addEventListener("visibilitychange", attend);
  attend();
}
