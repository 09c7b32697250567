/** Each finding, on each of the surfaces that show findings. */
import { expect, test } from "vitest";
import { statusLines } from "../../../src/cli/status-lines.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";
import { digestOf } from "../../../src/notify/message.ts";
import { alertsOf } from "../../../src/notify/alerts.ts";
import { FINDING_KINDS } from "../../../src/report/finding.ts";
import { healthReason, serviceLine } from "../../../src/report/finding-text.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import { SITUATIONS } from "./situations.ts";

const NOW = 31_000;

/** What each surface shows of the finding of one kind; `2026-11-26 10:12:04` is TIME. */
function shownOf(kind: (typeof FINDING_KINDS)[number]) {
  const situation = SITUATIONS[kind];
  const { report } = situation;
  const findings = findingsOf(situation);
  const terminal = { paint: (_: unknown, text: string) => text, isInteractive: false, width: 80 };
  const lines = statusLines(
    report,
    { owner: undefined, findings, now: NOW },
    terminal as unknown as Terminal,
    99,
  );
  const [first] = findings;
  const from = lines.findIndex((line) => line.startsWith(first?.title ?? "-"));
  const to = lines.findIndex((line, n) => n > from && !line.startsWith("  "));
  const digest = digestOf({
    from: 0,
    to: NOW,
    usageBuckets: [],
    nameOf: () => "",
    documents: report.documents,
    findings,
  });
  const [alert] = alertsOf({ report, findings }, 0, NOW);
  const untimed = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME");
  return {
    status: untimed(lines.slice(from, to).join("\n")),
    page: JSON.parse(JSON.stringify(first)) as object,
    digest: digest.detail.split("\n").slice(3).join("\n"),
    notification: alert
      ? untimed([alert.title, alert.detail, alert.hint, alert.over].join("\n"))
      : "in the digest alone",
    service: serviceLine({ report, findings }),
    health: healthReason(findings),
  };
}

test.for(FINDING_KINDS)("%s is shown on every surface, by the same title", (kind) => {
  const [finding] = findingsOf(SITUATIONS[kind]);
  const { page, notification, ...texts } = shownOf(kind);
  for (const [surface, text] of Object.entries(texts))
    expect(text, surface).toContain(finding?.title);
  expect(page).toEqual(finding);
  if (notification !== "in the digest alone") expect(notification).toContain(finding?.title);
});

test("what each surface says of each finding", () => {
  const said = FINDING_KINDS.map((kind) => {
    const { page, ...texts } = shownOf(kind);
    const fields = Object.entries(page).filter(
      ([key]) => !["title", "detail", "fix"].includes(key),
    );
    return [`# ${kind}`, ...Object.values(texts), JSON.stringify(Object.fromEntries(fields))];
  });
  expect(`\n${said.map((lines) => lines.join("\n--\n")).join("\n\n")}\n`).toMatchInlineSnapshot(`
    "
    # stalled
    --
    Nothing is sent
      nothing has moved for 16 minutes.
      Check the journal's disk or database, and the log. If this lasts, restart the daemon: nothing is lost, and nothing is sent twice.
    --
    - Nothing is sent. Check the journal's disk or database, and the log. If this lasts, restart the daemon: nothing is lost, and nothing is sent twice.
    --
    Nothing is sent
    nothing has moved for 16 minutes.
    Check the journal's disk or database, and the log. If this lasts, restart the daemon: nothing is lost, and nothing is sent twice.
    Documents move again
    --
    Nothing is sent; idle; 0 converted
    --
    Nothing is sent
    --
    {"since":null,"nextAttempt":null,"count":0,"archive":null,"mirror":null,"documents":null,"actions":[],"id":"stalled","kind":"stalled","severity":"error"}

    # gate
    --
    Sending has stopped: the page allowance is used up (since TIME)
      it said so (QUOTA_LIMIT). 7 documents wait.
      Buy pages.
      Next attempt: in 30 seconds (TIME).
    --
    - Sending has stopped: the page allowance is used up. Buy pages.
    --
    Sending has stopped: the page allowance is used up
    it said so (QUOTA_LIMIT). 7 documents wait.
    Next attempt: in 30 seconds (TIME).
    Buy pages.
    Sending continues: the archive accepts documents again
    --
    Sending has stopped: the page allowance is used up; idle; 0 converted; 7 held
    --
    Sending has stopped: the page allowance is used up
    --
    {"since":1000,"nextAttempt":61000,"count":7,"archive":"main","mirror":null,"documents":null,"actions":[],"id":"gate:main:QUOTA_LIMIT","kind":"gate","severity":"error"}

    # paused
    --
    Sending is paused
      1 document waits. New files are found, and wait until sending is resumed.
      Run \`scanferry resume\`, or use Resume on the page.
    --
    - Sending is paused. Run \`scanferry resume\`, or use Resume on the page.
    --
    in the digest alone
    --
    Sending is paused; 1 pending; 0 converted
    --
    Sending is paused
    --
    {"since":null,"nextAttempt":null,"count":1,"archive":null,"mirror":null,"documents":null,"actions":["resume"],"id":"paused","kind":"paused","severity":"warning"}

    # notRunning
    --
    scanferry is not running
      1,200 documents wait.
      Start it with \`scanferry run\`, or run \`scanferry sync\` once.
    --
    - scanferry is not running. Start it with \`scanferry run\`, or run \`scanferry sync\` once.
    --
    in the digest alone
    --
    scanferry is not running; 1200 pending; 0 converted
    --
    scanferry is not running
    --
    {"since":null,"nextAttempt":null,"count":1200,"archive":null,"mirror":null,"documents":null,"actions":[],"id":"notRunning","kind":"notRunning","severity":"warning"}

    # outage
    --
    Cannot reach the archive since TIME
      no connection (ARCHIVE_UNREACHABLE). 2 documents wait.
      Check the network.
      Next attempt: in 30 seconds (TIME).
    --
    - Cannot reach the archive. Check the network.
    --
    Cannot reach the archive
    no connection (ARCHIVE_UNREACHABLE). 2 documents wait.
    Next attempt: in 30 seconds (TIME).
    Check the network.
    The archive answers again
    --
    Cannot reach the archive; 2 pending; 0 converted
    --
    Cannot reach the archive
    --
    {"since":1000,"nextAttempt":61000,"count":2,"archive":"main","mirror":null,"documents":null,"actions":[],"id":"archive:main","kind":"outage","severity":"error"}

    # failed
    --
    3 documents failed: the archive rejected them (FILE_SIZE_TOO_BIG) (since TIME)
      a/b.pdf: said so. The same code for 2 other documents.
      Split the document, or scan it at a lower resolution: the archive does not accept files of this type and size. See \`scanferry list --state failed\`.
    --
    - 3 documents failed: the archive rejected them (FILE_SIZE_TOO_BIG). Split the document, or scan it at a lower resolution: the archive does not accept files of this type and size. See \`scanferry list --state failed\`.
    --
    3 documents failed: the archive rejected them (FILE_SIZE_TOO_BIG)
    a/b.pdf: said so. The same code for 2 other documents.
    Split the document, or scan it at a lower resolution: the archive does not accept files of this type and size. See \`scanferry list --state failed\`.
    No document is failed any more: FILE_SIZE_TOO_BIG
    --
    3 documents failed: the archive rejected them (FILE_SIZE_TOO_BIG); idle; 0 converted
    --
    3 documents failed: the archive rejected them (FILE_SIZE_TOO_BIG)
    --
    {"since":1000,"nextAttempt":null,"count":3,"archive":null,"mirror":null,"documents":{"state":"failed","code":"FILE_SIZE_TOO_BIG","first":7,"message":"said so","paths":["a/b.pdf"]},"actions":["retry"],"id":"failed:FILE_SIZE_TOO_BIG","kind":"failed","severity":"error"}

    # source
    --
    The source of scans is offline since TIME
      /srv/scans: not mounted. No file is treated as deleted; other sources continue.
      Mount the source again, or fix \`source\` in the configuration. scanferry continues automatically.
    --
    - The source of scans is offline. Mount the source again, or fix \`source\` in the configuration. scanferry continues automatically.
    --
    The source of scans is offline
    /srv/scans: not mounted. No file is treated as deleted; other sources continue.
    Mount the source again, or fix \`source\` in the configuration. scanferry continues automatically.
    The source of scans is online again
    --
    The source of scans is offline; idle; 0 converted
    --
    The source of scans is offline
    --
    {"since":1000,"nextAttempt":null,"count":0,"archive":null,"mirror":"scans","documents":null,"actions":[],"id":"source:scans","kind":"source","severity":"error"}

    # unread
    --
    Cannot read 2 folders of scans
      /srv/scans/closed (and 1 other folder): no permission. Files in there are not sent; everything else continues.
      Give the daemon's user read permission, or fix the disk. scanferry tries again automatically.
    --
    - Cannot read 2 folders of scans. Give the daemon's user read permission, or fix the disk. scanferry tries again automatically.
    --
    Cannot read 2 folders of scans
    /srv/scans/closed (and 1 other folder): no permission. Files in there are not sent; everything else continues.
    Give the daemon's user read permission, or fix the disk. scanferry tries again automatically.
    All folders of scans can be read again
    --
    Cannot read 2 folders of scans; idle; 0 converted
    --
    Cannot read 2 folders of scans
    --
    {"since":null,"nextAttempt":null,"count":2,"archive":null,"mirror":"scans","documents":null,"actions":[],"id":"unread:scans","kind":"unread","severity":"error"}

    # unwatched
    --
    Some folders of scans are not watched
      the limit of watched directories is reached (fs.inotify.max_user_watches). Changes in them are found later, by scans.
      Raise fs.inotify.max_user_watches and max_user_instances, or fix what the message names. scanferry tries again automatically.
    --
    - Some folders of scans are not watched. Raise fs.inotify.max_user_watches and max_user_instances, or fix what the message names. scanferry tries again automatically.
    --
    in the digest alone
    --
    Some folders of scans are not watched; idle; 0 converted
    --
    Some folders of scans are not watched
    --
    {"since":null,"nextAttempt":null,"count":0,"archive":null,"mirror":"scans","documents":null,"actions":[],"id":"unwatched:scans","kind":"unwatched","severity":"warning"}

    # held
    --
    1 document is held: SIDECAR_MISSING (since TIME)
      a/b.pdf: said so.
      Put the sidecar next to the file. The document continues automatically.
      Next attempt: in 30 seconds (TIME).
    --
    - 1 document is held: SIDECAR_MISSING. Put the sidecar next to the file. The document continues automatically.
    --
    1 document is held: SIDECAR_MISSING
    a/b.pdf: said so.
    Next attempt: in 30 seconds (TIME).
    Put the sidecar next to the file. The document continues automatically.
    No document is held any more: SIDECAR_MISSING
    --
    1 document is held: SIDECAR_MISSING; idle; 0 converted
    --
    1 document is held: SIDECAR_MISSING
    --
    {"since":1000,"nextAttempt":61000,"count":1,"archive":null,"mirror":null,"documents":{"state":"held","code":"SIDECAR_MISSING","first":7,"message":"said so","paths":["a/b.pdf"]},"actions":["retry"],"id":"held:SIDECAR_MISSING","kind":"held","severity":"warning"}

    # stuck
    --
    The archive has not converted 1 document since TIME
      a/b.pdf: said so.
      The archive has not converted the document: contact its support and give the document id.
      Next attempt: in 30 seconds (TIME).
    --
    - The archive has not converted 1 document. The archive has not converted the document: contact its support and give the document id.
    --
    The archive has not converted 1 document
    a/b.pdf: said so.
    Next attempt: in 30 seconds (TIME).
    The archive has not converted the document: contact its support and give the document id.
    Every document that was stuck is converted
    --
    The archive has not converted 1 document; idle; 0 converted
    --
    The archive has not converted 1 document
    --
    {"since":1000,"nextAttempt":61000,"count":1,"archive":null,"mirror":null,"documents":{"state":"uploaded","code":"CONVERSION_STUCK","first":7,"message":"said so","paths":["a/b.pdf"]},"actions":[],"id":"stuck","kind":"stuck","severity":"warning"}

    # after
    --
    2 files of scans could not be moved or deleted yet
      One of 2: a.pdf: AFTER_REFUSED: no space.
      The local file is still in the source. Check permissions, free space and mounts for \`after\` or \`afterVeto\`.
      Next attempt: in 30 seconds (TIME).
    --
    - 2 files of scans could not be moved or deleted yet. The local file is still in the source. Check permissions, free space and mounts for \`after\` or \`afterVeto\`.
    --
    2 files of scans could not be moved or deleted yet
    One of 2: a.pdf: AFTER_REFUSED: no space.
    Next attempt: in 30 seconds (TIME).
    The local file is still in the source. Check permissions, free space and mounts for \`after\` or \`afterVeto\`.
    Files of scans are moved or deleted again
    --
    2 files of scans could not be moved or deleted yet; idle; 0 converted
    --
    2 files of scans could not be moved or deleted yet
    --
    {"since":null,"nextAttempt":61000,"count":2,"archive":null,"mirror":"scans","documents":null,"actions":[],"id":"after:scans","kind":"after","severity":"warning"}

    # waits
    --
    Sending waits
      outside of \`upload.hours\`. 2 documents wait.
      Sending may begin: in 30 seconds (TIME).
    --
    - Sending waits.
    --
    in the digest alone
    --
    Sending waits; 2 pending; 0 converted
    --
    Sending waits
    --
    {"since":null,"nextAttempt":61000,"count":2,"archive":"main","mirror":null,"documents":null,"actions":[],"id":"waits:main:hours","kind":"waits","severity":"info"}

    # allowance
    --
    80 % of this month's page allowance is used
      800 of 1000 pages.
      Buy pages.
    --
    - 80 % of this month's page allowance is used. Buy pages.
    --
    80 % of this month's page allowance is used
    800 of 1000 pages.
    Buy pages.
    The page allowance has room again
    --
    80 % of this month's page allowance is used; idle; 0 converted
    --
    80 % of this month's page allowance is used
    --
    {"since":null,"nextAttempt":null,"count":0,"archive":"main","mirror":null,"documents":null,"actions":[],"id":"allowance:main","kind":"allowance","severity":"warning"}

    # disk
    --
    The journal's disk is almost full
      499 MB are free for /j.db. When it is full, nothing is sent.
      Free space, or move the journal.
    --
    - The journal's disk is almost full. Free space, or move the journal.
    --
    The journal's disk is almost full
    499 MB are free for /j.db. When it is full, nothing is sent.
    Free space, or move the journal.
    The journal's disk has room again
    --
    The journal's disk is almost full; idle; 0 converted
    --
    The journal's disk is almost full
    --
    {"since":null,"nextAttempt":null,"count":0,"archive":null,"mirror":null,"documents":null,"actions":[],"id":"disk","kind":"disk","severity":"warning"}

    # page
    --
    The page is not available
      the port is in use. Everything else continues.
      Set another \`web.listen\`.
    --
    - The page is not available. Set another \`web.listen\`.
    --
    The page is not available
    the port is in use. Everything else continues.
    Set another \`web.listen\`.
    The page is available again
    --
    The page is not available; idle; 0 converted
    --
    The page is not available
    --
    {"since":null,"nextAttempt":null,"count":0,"archive":null,"mirror":null,"documents":null,"actions":[],"id":"page","kind":"page","severity":"warning"}

    # config
    --
    The new configuration has errors
      scanferry.yaml:3: jurnal: unknown key. The old configuration stays in use.
      Run \`scanferry check\`, fix the configuration, then reload it.
    --
    - The new configuration has errors. Run \`scanferry check\`, fix the configuration, then reload it.
    --
    The new configuration has errors
    scanferry.yaml:3: jurnal: unknown key. The old configuration stays in use.
    Run \`scanferry check\`, fix the configuration, then reload it.
    The new configuration is in use
    --
    The new configuration has errors; idle; 0 converted
    --
    The new configuration has errors
    --
    {"since":null,"nextAttempt":null,"count":0,"archive":null,"mirror":null,"documents":null,"actions":[],"id":"config","kind":"config","severity":"warning"}

    # formerMirror
    --
    The mirror old is no longer configured
      Its documents wait: 2 held.
      See \`scanferry list --mirror old\`. Configure the mirror again to send them.
    --
    - The mirror old is no longer configured. See \`scanferry list --mirror old\`. Configure the mirror again to send them.
    --
    in the digest alone
    --
    The mirror old is no longer configured; idle; 0 converted
    --
    The mirror old is no longer configured
    --
    {"since":null,"nextAttempt":null,"count":2,"archive":null,"mirror":"old","documents":null,"actions":[],"id":"formerMirror:old","kind":"formerMirror","severity":"warning"}

    # unfinished
    --
    1 file is not finished yet since TIME
      a/b.pdf: said so.
      Once the file is complete, scanferry sends it. If its format shows that it is unfinished, it is held when it does not change for \`incomplete\`.
      Next check: in 30 seconds (TIME).
    --
    - 1 file is not finished yet. Once the file is complete, scanferry sends it. If its format shows that it is unfinished, it is held when it does not change for \`incomplete\`.
    --
    in the digest alone
    --
    1 file is not finished yet; idle; 0 converted
    --
    1 file is not finished yet
    --
    {"since":1000,"nextAttempt":61000,"count":1,"archive":null,"mirror":null,"documents":{"state":"settling","code":"FILE_UNFINISHED","first":7,"message":"said so","paths":["a/b.pdf"]},"actions":["sendAnyway"],"id":"unfinished:FILE_UNFINISHED","kind":"unfinished","severity":"info"}

    # sentEarly
    --
    Files of scans wait longer: one was sent before it was finished (since TIME)
      All files of scans now wait 28s.
      Set \`settle: 28s\` for the mirror.
    --
    - Files of scans wait longer: one was sent before it was finished. Set \`settle: 28s\` for the mirror.
    --
    in the digest alone
    --
    Files of scans wait longer: one was sent before it was finished; idle; 0 converted
    --
    Files of scans wait longer: one was sent before it was finished
    --
    {"since":1000,"nextAttempt":null,"count":0,"archive":null,"mirror":"scans","documents":null,"actions":[],"id":"sentEarly:scans","kind":"sentEarly","severity":"info"}

    # kept
    --
    1 file of scans will not be moved or deleted
      a.pdf: FILE_CHANGED.
      See \`scanferry list --after-pending\`.
    --
    - 1 file of scans will not be moved or deleted. See \`scanferry list --after-pending\`.
    --
    in the digest alone
    --
    1 file of scans will not be moved or deleted; idle; 0 converted
    --
    1 file of scans will not be moved or deleted
    --
    {"since":null,"nextAttempt":null,"count":1,"archive":null,"mirror":"scans","documents":null,"actions":[],"id":"kept:scans","kind":"kept","severity":"info"}
    "
  `);
});
