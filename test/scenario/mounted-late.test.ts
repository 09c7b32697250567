/** A source that is mounted after the daemon was started, and unmounted, on a real file system. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { can, smallDisk } from "../fixtures/small-disk.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

test.runIf(process.getuid?.() === 0 && can("unshare", "--mount", "true"))(
  "how it is watched is decided again; unmounted, nothing is taken for removed",
  async () => {
    await using world = await aWorld();
    await using daemon = aProcess(["--config", world.configFile(), "run"]);
    await daemon.says(/"started"/);
    {
      using _disk = smallDisk(world.source, "1m");
      await daemon.says(/local file system at [^"]*scans.*on another file system now/);
      writeFileSync(join(world.source, "scan.pdf"), pdfOf(1));
      await until("the document", () => world.archive.documents().length === 1);
      await daemon.says(/"msg":"converted"/);
      expect(await audit(world)).toEqual([]);
    }
    await daemon.says(/source offline: .* its file system is not mounted/);
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(await rowsOf(world.journal)).toMatchObject([{ state: "converted", current: true }]);
  },
);
