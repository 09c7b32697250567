/** Starts the command line. On an old Node the journal's library crashes when it is loaded. */
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
