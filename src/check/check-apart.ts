/** `scanferry check`, as a program of its own: it loads what a daemon does not need, and may take long. */
import { spawn } from "node:child_process";

/** An archive and mail servers that do not answer are waited for meanwhile. */
const CHECK_MS_MAX = 50_000;
const OUTPUT_MAX = 1_048_576;

/** What it prints with `--json`. Rejects where that is nothing, or takes too long. */
export async function checkApart(
  configFile: string | undefined,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<object> {
  const [node = "", main = ""] = process.argv;
  const config = configFile === undefined ? [] : ["--config", configFile];
  const child = spawn(node, [...process.execArgv, main, ...config, "check", "--json"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "ignore"],
    timeout: CHECK_MS_MAX,
    killSignal: "SIGKILL",
  });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  let text = "";
  const read = async () => {
    for await (const part of child.stdout.setEncoding("utf8")) {
      if (text.length < OUTPUT_MAX) text += String(part);
    }
    return JSON.parse(text) as object;
  };
  return Promise.race([read(), failed]);
}
