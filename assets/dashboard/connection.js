/** The line to the daemon: questions, requests, and the stream of events with its stand-in. */
import { strings } from "./strings.js";

/** The daemon gives a sign of life every 2 s. Without one it is asked, and then said not to answer. */
const STALE_MS = 3_000;
const SILENCE_MS = 4_500;
const WATCH_MS = 250;
const POLL_MS = 2_000;
const POLL_ANSWER_MS = 4_000;
const ANSWER_MS = 15_000;
const RECONNECT_MS = 30_000;
const UNSEEN_POLL_MS = 30_000;

let isLost = false;

/** A refusal of the daemon, in its words. */
class Refused extends Error {
  constructor(status, error) {
    super(error ? strings.refusalOf(error) : `HTTP ${status}`);
    this.status = status;
  }
}

/** Asks for JSON; throws what the daemon refused, or that it does not answer. */
export function ask(path, answerMs = ANSWER_MS) {
  return answerOf(path, { headers: { accept: "application/json" } }, answerMs, strings.noAnswer);
}

/** Asks for a change. While the daemon does not answer, nothing is sent. */
export function tell(path, body = {}, answerMs = ANSWER_MS) {
  if (isLost) return Promise.reject(new Error(strings.nothingSent));
  const headers = { "content-type": "application/json", "x-scanferry": "1" };
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  return answerOf(path, request, answerMs, strings.notKnown);
}

/** `silence`: what is said where no answer comes. */
async function answerOf(path, request, answerMs, silence) {
  let response;
  let answer;
  try {
    response = await fetch(path, { ...request, signal: AbortSignal.timeout(answerMs) });
    answer = await response.text();
  } catch {
    throw new Error(silence);
  }
  const json = jsonOf(answer);
  if (!response.ok) throw new Refused(response.status, json?.error);
  return json;
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Follows the daemon. `onStatus` gets snapshots, `onUploads` how far uploads are, `onProblem` a message, `onLine` how the line is and when the daemon
 * was last heard of (epoch ms): `live`, `polling` (the daemon has no place for another live page), `refused` or `lost`.
 */
export function follow({ onStatus, onUploads, onProblem, onLine }) {
  let source;
  let listenedAt;
  let polling;
  let isPolling = false;
  let watching;
  /** When something came: by a clock that is never set, and for people. */
  let heard = performance.now();
  let heardAt = Date.now();

  function hear(line) {
    heard = performance.now();
    heardAt = Date.now();
    isLost = false;
    onLine(line, heardAt);
  }

  function lose() {
    isLost = true;
    onLine("lost", heardAt);
  }

  function listen() {
    source?.close();
    listenedAt = performance.now();
    source = new EventSource("/api/events");
    const on = (name, use) =>
      source.addEventListener(name, ({ data }) => {
        clearInterval(polling);
        polling = undefined;
        hear("live");
        use?.(JSON.parse(data));
      });
    on("alive");
    on("status", onStatus);
    on("uploads", onUploads);
    on("problem", ({ message }) => onProblem(message));
    source.addEventListener("error", standIn);
  }

  /** A page that nobody sees, or without a stream, asks; and whether there is a daemon at all is known soon. */
  function standIn() {
    polling ??= setInterval(poll, POLL_MS);
    poll();
  }

  async function poll() {
    if (isPolling) return;
    isPolling = true;
    const wasLost = isLost;
    try {
      const snapshot = await ask("/api/status", POLL_ANSWER_MS);
      hear("polling");
      onStatus(snapshot);
    } catch (error) {
      if (error.status === undefined) return lose();
      hear(error.status === 401 ? "refused" : "polling");
      if (error.status !== 401) onProblem(error.message);
    } finally {
      isPolling = false;
    }
    // The stream may have been refused, or its line be dead without a word.
    if (!document.hidden && (wasLost || performance.now() - listenedAt > RECONNECT_MS)) listen();
  }

  function watch() {
    const silentMs = performance.now() - heard;
    if (silentMs > STALE_MS && polling === undefined) standIn();
    if (silentMs > SILENCE_MS) lose();
  }

  /** A browser has six lines to a host, for all its tabs: one that nobody sees keeps none of them. */
  function attend() {
    source?.close();
    clearInterval(polling);
    clearInterval(watching);
    polling = document.hidden ? setInterval(poll, UNSEEN_POLL_MS) : undefined;
    if (document.hidden) return poll();
    heard = performance.now();
    watching = setInterval(watch, WATCH_MS);
    listen();
  }

  document.addEventListener("visibilitychange", attend);
  attend();
}
