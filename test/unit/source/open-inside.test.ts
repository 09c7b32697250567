import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { getSystemErrorName } from "node:util";
import { expect, test } from "vitest";
import { entryOf, openDirectory, openRoot } from "../../../src/source/directory-fd.ts";
import { FileGone, fileFault, NotRegular } from "../../../src/source/file-fault.ts";
import { lookInside, openInside } from "../../../src/source/open-inside.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { asNobody } from "./as-nobody.ts";
import { bytesAt, fifo, openBelow, put, raw, scratch } from "./scratch.ts";

function readInside(source: string, path: RawPath): string {
  const fd = openInside(source, path);
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

test("a file is opened below a source that is itself a link", () => {
  const dir = scratch();
  put(dir, "real/a/b/scan.pdf", "content");
  symlinkSync("real", `${dir}/source`);
  expect(readInside(`${dir}/source`, raw("a/b/scan.pdf"))).toBe("content");
});

test.for([
  ["latin.\xe9\xff.pdf", "not UTF-8"],
  ["new\nline.pdf", "a newline"],
  ['"quoted" \\ back.pdf', "quotes and a backslash"],
  [raw("Überweisung 📎.pdf"), "beyond ASCII"],
  ["x".repeat(251), "as long as a name may be, below a directory"],
] as const)("%j is opened: %s", ([name]) => {
  const dir = scratch();
  mkdirSync(bytesAt(dir, "\xe8" as RawPath));
  const path = `\xe8/${name}` as RawPath;
  writeFileSync(bytesAt(dir, path), "content");
  expect(readInside(dir, path)).toBe("content");
  expect(lookInside(dir, path)?.sizeBytes).toBe(7);
});

test("a tree deeper than the longest path is reached", () => {
  const dir = scratch();
  const part = "d".repeat(200);
  let fd = openRoot(dir);
  let path = "" as RawPath;
  for (let depth = 0; depth < 30; depth++) {
    mkdirSync(entryOf(fd, raw(part)));
    const next = openDirectory(fd, raw(part));
    closeSync(fd);
    fd = next;
    path = `${path}${part}/` as RawPath;
  }
  writeFileSync(entryOf(fd, raw("scan.pdf")), "deep");
  closeSync(fd);
  expect(readInside(dir, `${path}scan.pdf` as RawPath)).toBe("deep");
});

test.for([
  ["link to a file", (at: string) => symlinkSync("scan.pdf", at)],
  ["dangling link", (at: string) => symlinkSync("nowhere", at)],
  ["link to a device", (at: string) => symlinkSync("/dev/zero", at)],
  ["pipe without a writer", fifo],
  [
    "directory",
    (at: string) => {
      mkdirSync(at);
    },
  ],
] as const)("a %s is refused, at once, and looks gone", ([, make]) => {
  const dir = scratch();
  put(dir, "scan.pdf");
  make(`${dir}/odd`);
  expect(() => openInside(dir, raw("odd"))).toThrow(NotRegular);
  expect(lookInside(dir, raw("odd"))).toBeUndefined();
});

test("a socket is refused", async () => {
  const dir = scratch();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${dir}/odd`, resolve));
  try {
    expect(() => openInside(dir, raw("odd"))).toThrow(NotRegular);
  } finally {
    server.close();
  }
});

test("a hard link is a file like any other", () => {
  const dir = scratch();
  put(dir, "scan.pdf", "content");
  linkSync(`${dir}/scan.pdf`, `${dir}/other.pdf`);
  expect(readInside(dir, raw("other.pdf"))).toBe("content");
});

test("a directory on the way that was swapped for a link leads nowhere", () => {
  const dir = scratch();
  put(dir, "outside/deep/secret.pdf", "secret");
  put(dir, "source/in/deep/secret.pdf", "ours");
  expect(readInside(`${dir}/source`, raw("in/deep/secret.pdf"))).toBe("ours");
  renameSync(`${dir}/source/in`, `${dir}/source/was`);
  symlinkSync("../outside", `${dir}/source/in`);
  expect(readFileSync(`${dir}/source/in/deep/secret.pdf`, "utf8")).toBe("secret");
  expect(() => openInside(`${dir}/source`, raw("in/deep/secret.pdf"))).toThrow(FileGone);
  expect(lookInside(`${dir}/source`, raw("in/deep/secret.pdf"))).toBeUndefined();
});

test.for(["../secret.pdf", "a/../../secret.pdf", "a//b", "./a", "", "a/.."])(
  "the path %j, which no listing gives, is a bug",
  (path) => {
    const dir = scratch();
    put(dir, "source/a/b");
    put(dir, "secret.pdf");
    expect(() => openInside(`${dir}/source`, raw(path))).toThrow("real names");
  },
);

test("no descriptor is left open, however a look ends", () => {
  const dir = scratch();
  put(dir, "a/b/scan.pdf");
  symlinkSync("a", `${dir}/l`);
  fifo(`${dir}/a/pipe`);
  for (const path of ["a/b/scan.pdf", "a/b/gone", "a/gone/x", "l/b/scan.pdf", "a/pipe", "a/b"]) {
    lookInside(dir, raw(path));
    expect(() => closeSync(openInside(dir, raw(path)))).toSatisfy((open: () => void) => {
      if (path === "a/b/scan.pdf") open();
      else expect(open).toThrow();
      return true;
    });
  }
  expect(() => openInside(`${dir}/none`, raw("x"))).toThrow(FileGone);
  expect(openBelow(dir)).toEqual([]);
});

test("what is seen is the file's size and time, and the stamp tells each change", () => {
  const dir = scratch();
  const file = put(dir, "scan.pdf", "one");
  const seen = lookInside(dir, raw("scan.pdf"));
  expect(seen).toMatchObject({ sizeBytes: 3 });
  expect(Math.abs((seen?.modifiedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  writeFileSync(`${file}.new`, "two");
  execFileSync("touch", ["-r", file, `${file}.new`]);
  renameSync(`${file}.new`, file);
  const replaced = lookInside(dir, raw("scan.pdf"));
  expect(replaced?.stamp).not.toBe(seen?.stamp);
  expect(lookInside(dir, raw("scan.pdf"), true)?.stamp).toBe(seen?.stamp.split(".", 2).join("."));
  rmSync(file);
  expect(lookInside(dir, raw("scan.pdf"))).toBeUndefined();
});

test.for([
  ["ENOENT", "FILE_GONE", "it is not there"],
  ["ENOTDIR", "FILE_GONE", "a directory on the way is none any more"],
  ["EACCES", "FILE_UNREADABLE", "a person must give the right to read"],
  ["EPERM", "FILE_UNREADABLE", "the same"],
  ["EBUSY", "FILE_UNREADABLE", "another program holds it; it is tried again"],
  ["ELOOP", "FILE_UNREADABLE", "links around the source lead in a circle"],
  ["EMFILE", "FILE_UNREADABLE", "too much is open just now"],
  ["ENOTCONN", "SOURCE_OFFLINE", "the FUSE process is gone"],
  ["EIO", "SOURCE_OFFLINE", "the disk or the server is dying"],
  ["EHOSTDOWN", "SOURCE_OFFLINE", "the CIFS server is down"],
] as const)("%s means %s: %s", ([code, fault]) => {
  const error = Object.assign(new Error(`${code}: some words, open '/proc/self/fd/7/x'`), {
    code,
    syscall: "open",
  });
  const { code: given, message, hint } = fileFault(error, raw("x"));
  expect(given).toBe(fault);
  expect(hint).not.toBe("");
  expect(message).not.toContain("/proc");
});

test.for([
  [116, "SOURCE_OFFLINE", "ESTALE: stale file handle", "the NFS server has forgotten us"],
  [117, "FILE_UNREADABLE", "EUCLEAN: structure needs cleaning", "the file system is damaged"],
] as const)("error %d, which Node has no name for, means %s: %s", ([number, fault, text]) => {
  const code = getSystemErrorName(-number);
  const error = Object.assign(new Error(`${code}: ${code}, open '/x'`), { code, syscall: "open" });
  expect(fileFault(error, raw("x"))).toMatchObject({ code: fault, message: text });
});

test("a bug is not taken for problem with a file", () => {
  expect(() => fileFault(new TypeError("x is undefined"), raw("x"))).toThrow(TypeError);
});

test("who owns an unreadable file, and its mode, are told", ({ skip }) => {
  const dir = scratch();
  chmodSync(put(dir, "scan.pdf"), 0o000);
  chmodSync(dir, 0o755);
  const said = asNobody(
    `import { openInside } from "src/source/open-inside.ts";
    try { openInside(process.argv[1], "scan.pdf"); console.log("opened"); }
    catch (error) { console.log(error.code, error.message); }`,
    dir,
  );
  if (said === undefined) {
    skip("needs root to become someone else");
    return;
  }
  expect(said).toBe(
    "FILE_UNREADABLE EACCES: permission denied (the user nobody may not read it: owner root, group root, mode 0000)",
  );
});
