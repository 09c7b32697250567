/** Starts the command line. On an old Node the journal's library crashes when it is loaded. */

const words = process.argv.slice(2);
const command = words.find((word, at) => !word.startsWith("-") && words[at - 1] !== "--config");

// Before a daemon is loaded there is nothing to finish: a stop ends it as cleanly as it does later, and to read
// the configuration again changes nothing.
if (command === "run")
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(signal, () => {
      if (signal !== "SIGHUP" && process.listenerCount(signal) === 1) process.exit(0);
    });

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 22 || (major === 22 && minor >= 22)) {
  const { start } = await import("./cli/run-program.ts");
  await start();
} else {
  process.stderr.write(
    `scanferry: Node ${process.versions.node} is too old; install Node 24, or any from 22.22 on\n`,
  );
  process.exitCode = 2;
}
