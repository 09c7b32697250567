/** What the environment may not do to it. */
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { SECRET, aWorld } from "../fixtures/world.ts";

test.for(["run", "sync"])(
  "`%s` does not start where certificate checks are switched off, and says what to do",
  async (command) => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    await using daemon = aProcess(["--config", world.configFile(), command], env);
    expect(await daemon.ended, daemon.output.stdout).toBe(1);
    expect(daemon.output.stderr).toContain("NODE_TLS_REJECT_UNAUTHORIZED=0");
    expect(daemon.output.stderr).toContain("NODE_EXTRA_CA_CERTS");
    expect(daemon.output.stderr).not.toContain(SECRET);
    expect(world.archive.requests().every(({ count }) => count === 0)).toBe(true);
  },
);
