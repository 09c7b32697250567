import { expect, test } from "vitest";
import { ConfigFolder, LEAST } from "./config-folder.ts";

/** Lines added to the least configuration, which has two; so the first added one is line 3. */
test.for([
  ["journal: 5", 'scanferry.yaml:3: journal: 5 is not text; put it in quotes: "5"', "a number"],
  ["journal: [a]", "scanferry.yaml:3: journal: must be text, is a list; write text", "a list"],
  [
    "journal: ~/j.db",
    'scanferry.yaml:3: journal: "~/j.db" starts with ~, which is not expanded; write the whole path',
    "no shell has seen it",
  ],
  [
    "journal: 'C:\\scanferry\\j.db'",
    'scanferry.yaml:3: journal: "C:\\\\scanferry\\\\j.db" is a path of Windows; write the path that it has on this machine, e.g. /mnt/scans',
    "a drive is none here: it would be a file of that odd name",
  ],
  [
    "receipts: \\\\server\\receipts",
    'scanferry.yaml:3: receipts: "\\\\\\\\server\\\\receipts" is a path of Windows; write the path that it has on this machine, e.g. /mnt/scans',
    "nor is a share",
  ],
  [
    "jurnal: /j.db",
    "scanferry.yaml:3: jurnal: unknown key; did you mean journal?",
    "a typo names the nearest key",
  ],
  [
    "upload: { concurency: 3 }",
    "scanferry.yaml:3: upload.concurency: unknown key; did you mean concurrency?",
    "nearest among the keys of the same section",
  ],
  [
    "rescan: x",
    "scanferry.yaml:3: rescan: unknown key; it belongs under schedule",
    "right word, wrong place",
  ],
  [
    "log: { colour: true }",
    "scanferry.yaml:3: log.colour: unknown key; known keys here: level, file, keep",
    "nothing is near",
  ],
  [
    "upload: { concurrency: 65 }",
    "scanferry.yaml:3: upload.concurrency: 65 is out of bounds; write a whole number from 1 to 64",
    "the bounds are told",
  ],
  [
    "upload: { concurrency: 0 }",
    "scanferry.yaml:3: upload.concurrency: 0 is out of bounds; write a whole number from 1 to 64",
    "none at a time sends nothing",
  ],
  [
    "upload: { concurrency: 2.5 }",
    "scanferry.yaml:3: upload.concurrency: 2.5 is not a whole number; write a whole number from 1 to 64",
    "halves cannot be sent",
  ],
  [
    'batch: { maxDocuments: "7" }',
    'scanferry.yaml:3: batch.maxDocuments: "7" is text, not a number; write 7 without quotes',
    "quotes make text of it",
  ],
  [
    "batch: { quiet: 5 }",
    "scanferry.yaml:3: batch.quiet: 5 is not a duration; write 3s, 200ms, 5m, 6h or 7d",
    "seconds or milliseconds?",
  ],
  [
    "batch: { quiet: 2d }",
    'scanferry.yaml:3: batch.quiet: "2d" is too long; write 1d or less',
    "bounds",
  ],
  [
    "conversion: { stuckAfter: 0 }",
    "scanferry.yaml:3: conversion.stuckAfter: 0 is not a duration; write 3s, 200ms, 5m, 6h or 7d",
    "zero only where it makes sense",
  ],
  [
    "conversion: { stuckAfter: 0s }",
    'scanferry.yaml:3: conversion.stuckAfter: "0s" is too short; write 1ms or more',
    "zero only where it makes sense",
  ],
  [
    "upload: { retry: { initial: 10m } }",
    "scanferry.yaml:3: upload.retry.initial: 10m is longer than max (5m); make initial shorter, or max longer",
    "also against a default",
  ],
  [
    'schedule: { rescan: "61 * * * *" }',
    'scanferry.yaml:3: schedule.rescan: "61 * * * *" is not a cron expression (wrong: minute); write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"',
    "hours have 60 minutes",
  ],
  [
    'quota: { retryAt: "@daily" }',
    'scanferry.yaml:3: quota.retryAt: "@daily" is not a cron expression; write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"',
    "nicknames are not of the contract",
  ],
  [
    "web: on",
    'scanferry.yaml:3: web: "on" is not a listener; write off, or { listen: 127.0.0.1:8470 }',
    "on what?",
  ],
  [
    "web: { listen: 8470 }",
    'scanferry.yaml:3: web.listen: 8470 is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470"',
    "no port alone: to whom it listens must be said",
  ],
  [
    'web: { listen: "::1:8470" }',
    'scanferry.yaml:3: web.listen: "::1:8470" is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470"',
    "where does the port begin?",
  ],
  [
    "web: { listen: 127.0.0.1:70000 }",
    "scanferry.yaml:3: web.listen: 70000 is no port; write a port from 0 to 65535",
    "16 bits",
  ],
  [
    "web: { listen: 300.0.0.1:80 }",
    'scanferry.yaml:3: web.listen: "300.0.0.1:80" is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470"',
    "no address",
  ],
  [
    "log: { level: warning }",
    'scanferry.yaml:3: log.level: "warning" is none of trace, debug, info, warn, error, fatal, silent; did you mean warn?',
    "the nearest word",
  ],
  [
    "log: debug",
    "scanferry.yaml:3: log: must be a mapping of keys, is text; write its keys: level, file, keep",
    "a section is no value",
  ],
  [
    "journal: /srv/scans/j.db",
    'scanferry.yaml:3: journal: "/srv/scans/j.db" lies in the source of mirrors[0], which would send it; keep it outside, e.g. /var/lib/scanferry/journal.db',
    "it would be sent, for ever anew",
  ],
  [
    "log: { level: info }\nlog: { level: warn }",
    "scanferry.yaml:4: log: is given twice; keep one of the two",
    "which one counts?",
  ],
  [
    "log: {\n  level: info,\n  level: warn }",
    "scanferry.yaml:5: log.level: is given twice; keep one of the two",
    "which one counts?",
  ],
  [
    "journal: \u0000",
    'scanferry.yaml:3: journal: "\\u0000" holds a NUL character; remove it',
    "no file system has such names",
  ],
] as const)("%s: %s (%s)", async ([added, expected]) => {
  using folder = new ConfigFolder(`${LEAST}${added}\n`);
  expect(await folder.problems()).toEqual([expected]);
});

test.for([
  [
    "archive.example.com",
    '"archive.example.com" is not an http or https URL; write https://archive.example.com',
    "no scheme",
  ],
  [
    "ftp://a",
    '"ftp://a" is not an http or https URL; write https://HOST or https://HOST/PATH',
    "another scheme",
  ],
  ["https://", '"https://" is not a URL; write https://HOST or https://HOST/PATH', "no host"],
  [
    "https://a b/",
    '"https://a b/" is not a URL; write https://HOST or https://HOST/PATH',
    "a blank",
  ],
  [
    "https://u:CANARY@a/",
    "has credentials, a query or a fragment; write https://HOST or https://HOST/PATH",
    "a password is not told",
  ],
  [
    "https://a/?k=CANARY",
    "has credentials, a query or a fragment; write https://HOST or https://HOST/PATH",
    "a query is not told",
  ],
  [
    "https://a/#x",
    "has credentials, a query or a fragment; write https://HOST or https://HOST/PATH",
    "paths are put behind it",
  ],
] as const)("the URL %s %s (%s)", async ([url, expected]) => {
  using folder = new ConfigFolder(LEAST.replace("https://archive.example.com", url));
  expect(await folder.problems()).toEqual([`scanferry.yaml:1: archive.url: ${expected}`]);
});

test.for([
  [
    "algorithm: sha2566",
    '"sha2566" is not a digest that an HMAC can be made with; did you mean sha256?',
    "a typo",
  ],
  [
    "algorithm: shake128",
    '"shake128" is not a digest that an HMAC can be made with; did you mean sha',
    "listed, but not for HMAC",
  ],
  [
    "encoding: base32",
    '"base32" is none of base64, hex; did you mean base64?',
    "the contract has two",
  ],
  [
    "scheme: sha256",
    '"sha256" is none of hmac, none, module; write hmac, none, module',
    "that is the algorithm",
  ],
  ["scheme: module", "is missing; write e.g. module: ./sign.mjs", "which module?"],
] as const)("signing { %s }: %s (%s)", async ([signing, expected]) => {
  using folder = new ConfigFolder(LEAST.replace(" }\n", `, signing: { ${signing} } }\n`));
  const key = signing === "scheme: module" ? "module" : signing.replace(/:.*/, "");
  expect(await folder.problems()).toEqual([
    expect.stringContaining(`scanferry.yaml:1: archive.signing.${key}: ${expected}`),
  ]);
});
