/** The daemon of this process, which its signals steer; see `lifetime.ts`. */
import { Lifetime } from "./lifetime.ts";
import type { LifetimeOptions } from "./lifetime-options.ts";

/** Runs until SIGTERM or SIGINT; resolves on a clean end, rejects on a failure. */
export async function liveDaemon(options: LifetimeOptions): Promise<void> {
  const lifetime = new Lifetime(options);
  const handlers = [
    ["SIGTERM", () => lifetime.stop()],
    ["SIGINT", () => lifetime.stop()],
    ["SIGHUP", () => void lifetime.reload()],
    ["SIGUSR1", () => lifetime.rescan()],
  ] as const;
  for (const [signal, handler] of handlers) process.on(signal, handler);
  try {
    await lifetime.run();
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}
