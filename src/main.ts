/** Starts the command line. On an old Node the journal's library crashes when it is loaded. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 22 || (major === 22 && minor >= 22)) {
  const { processSurroundings } = await import("./cli/process-surroundings.ts");
  const { rawArguments } = await import("./cli/raw-arguments.ts");
  const { runProgram } = await import("./cli/run-program.ts");
  const { leave } = await import("./cli/leave.ts");
  const surroundings = processSurroundings();
  const code = await runProgram(rawArguments(process.argv.slice(2)), surroundings);
  await leave(code, surroundings.ending);
} else {
  process.stderr.write(
    `scanferry: Node ${process.versions.node} is too old; install Node 24, or any from 22.22 on\n`,
  );
  process.exitCode = 2;
}
