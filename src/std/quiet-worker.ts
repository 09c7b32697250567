import { Worker } from "node:worker_threads";

/**
 * A thread for an engine that may hang, crash or use up its memory over broken documents: with a heap
 * of its own, without a voice, and keeping no program alive while it is at rest.
 */
export function quietWorker(url: URL, heapMbMax: number): Worker {
  const worker = new Worker(url, {
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    stdout: true,
    stderr: true,
  });
  // What the engine has to say about broken documents is for nobody.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  // It is heard by anyone who waits for an answer; unheard, it would end the program.
  worker.on("error", () => {});
  return worker;
}
