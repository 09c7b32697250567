/** A trial with what the mirror's `before` hook answers: it is really run. */
import type { Mirror } from "../../config/config.ts";
import { type FailureCode, failureOf } from "../../domain/failure.ts";
import { ANSWER_BYTES_MAX, answerOf } from "../../rules/answer.ts";
import { decide } from "../../rules/apply-rules.ts";
import { dirOf, nameOf } from "../../std/raw-path.ts";
import { questionOf } from "../../sync/hook-input.ts";
import type { StatReader } from "../stat-reader.ts";
import { type Trial, trialOf } from "./trial.ts";
import type { Facts } from "../../rules/values.ts";

/** The trial as the hook leaves it; as it is where there is no hook, or nothing to ask about. */
export async function askedHook(
  statReader: StatReader,
  mirror: Mirror,
  facts: Facts,
  trial: Trial,
): Promise<Trial> {
  const hook = mirror.hooks?.before;
  const decision = decide(mirror.rules, mirror.target, facts);
  if (!hook || "problem" in decision) return trial;
  const noted = (note: string): Trial => ({ ...trial, notes: [...trial.notes, note] });
  const { path } = facts;
  const files = [{ path, seen: null }];
  const [found] = await statReader.reader.inspect(statReader.mirrorId, files, { pages: false });
  if (found?.kind !== "whole") return noted("the hook did not run: the file is not complete");
  const place = { dir: dirOf(path), name: nameOf(path) };
  const ended = await statReader.reader.hook({
    command: hook.command,
    timeoutMs: hook.timeoutMs,
    input: questionOf({ settings: mirror }, place, found, decision.decided),
    outputBytesMax: ANSWER_BYTES_MAX,
  });
  const read = "failure" in ended ? { fault: ended.failure } : answerOf(ended.output);
  if ("fault" in read) {
    const message = `the before hook failed: ${read.fault}`;
    return hook.onFailure === "send" ? noted(message) : held(trial, "HOOK_FAILED", message);
  }
  const { answer } = read;
  if (answer.veto !== undefined) return held(trial, "VETOED", answer.veto);
  return trialOf({ mirror, facts: { ...facts, answer }, notes: trial.notes });
}

function held(trial: Trial, code: FailureCode, message: string): Trial {
  return { ...trial, error: { code, message, hint: failureOf(code).hint } };
}
