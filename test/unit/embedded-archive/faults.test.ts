import { describe, expect, test } from "vitest";
import { request } from "node:http";
import { once } from "node:events";
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import {
  type FaultAction,
  faultRuleOfText,
  FAULT_RULES,
  FaultSchedule,
} from "../../../src/embedded-archive/faults.ts";
import type { StoredUpload } from "../../../src/embedded-archive/archive-options.ts";
import { PATHS } from "../../../src/wire/shapes.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { signed, signedForm, signedUpload } from "../../fixtures/sign.ts";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";

describe("fault rules", () => {
  describe("a rule as one word", () => {
    test.for([
      ["dropAfter", { do: "dropAfter" }, "an action alone"],
      ["upload:truncate", { do: "truncate", on: "upload" }, "of one operation"],
      ["delay,ms=5,times=always", { do: "delay", ms: 5, times: Infinity }, "always"],
      ["search:garbage,nth=3,times=2", { do: "garbage", on: "search", nth: 3, times: 2 }, "when"],
      [
        "status,status=503,stored=false,retryAfter=7",
        { do: "status", status: 503, stored: false, retryAfter: "7" },
        "numbers, flags, texts",
      ],
      [
        "upload:error,code=INDEX_LOCKED,status=400,stored=true,named=scan 1.pdf",
        {
          do: "error",
          on: "upload",
          code: "INDEX_LOCKED",
          status: 400,
          stored: true,
          named: "scan 1.pdf",
        },
        "one file alone",
      ],
      [
        "documents:hollow,lists=null",
        { do: "hollow", on: "documents", lists: "null" },
        "one of a few",
      ],
      ["convert,afterMs=never", { do: "convert", afterMs: "never" }, "never"],
      [
        "redirect,url=http://a.test/?b=c",
        { do: "redirect", url: "http://a.test/?b=c" },
        "an equals sign in a value",
      ],
    ] as const)("%s is %j: %s", ([text, rule]) => {
      expect(faultRuleOfText(text)).toEqual(rule);
    });

    test.for([
      ["", "nothing"],
      ["explode", "no such action"],
      ["constructor", "no such action either"],
      ["delay", "ms is missing"],
      ["delay,ms=soon", "no number"],
      ["delay,ms=-1", "no time"],
      ["delay,ms", "no value"],
      ["delay,ms=1,ms=2", "twice"],
      ["dropAfter,ms=1", "not a part of this action"],
      ["uploads:dropAfter", "no such operation"],
      ["status,status=99,stored=true", "no status"],
      ["status,status=500,stored=maybe", "no flag"],
      ["redirect,url=a\r\nb", "a header of one's own"],
      ["error,code=no code,stored=true", "no code"],
      ["hollow,lists=some", "none of the few"],
      ["dropAfter,do=garbage", "do is not a part"],
    ] as const)("%j is refused: %s", ([text]) => {
      expect(() => faultRuleOfText(text)).toThrow(
        expect.objectContaining({ code: "EMBEDDED_ARCHIVE_OPTIONS" }),
      );
    });
  });

  test("rules as JSON", () => {
    const json = [{ on: "upload", do: "status", status: 503, stored: true, times: "always" }];
    expect(FAULT_RULES.parse(json)).toEqual([{ ...json[0], times: Infinity }]);
    expect(FAULT_RULES.parse([])).toEqual([]);
    const size = { do: "misreport", field: "filesize" };
    expect(FAULT_RULES.parse([{ ...size, value: 17 }])).toEqual([{ ...size, value: "17" }]);
    for (const bad of [null, {}, [null], [[]], [{}], [{ do: "delay", ms: 1.5 }], [{ do: 1 }]])
      expect(() => FAULT_RULES.parse(bad)).toThrow(/./);
  });
});

describe("faults", () => {
  describe("a plan of rules", () => {
    const dropAfter = { do: "dropAfter" } as const;
    const garbage = { do: "garbage" } as const;
    test.for([
      [[dropAfter], ["dropAfter", "", "", ""], "the first request, once, unless it says more"],
      [[{ ...dropAfter, nth: 2, times: 2 }], ["", "dropAfter", "dropAfter", ""], "from nth, times"],
      [[{ ...dropAfter, times: Infinity }], Array(4).fill("dropAfter"), "for ever"],
      [[{ ...dropAfter, times: 0 }], ["", "", "", ""], "never"],
      [[{ ...dropAfter, on: "search", times: 9 }], ["", "", "", ""], "another operation's"],
      [[{ ...dropAfter, named: "b.pdf", times: 9 }], ["", "", ""], "another file's"],
      [[{ ...dropAfter, named: "a.pdf", times: 2 }], ["dropAfter", "dropAfter", ""], "this file's"],
      [[dropAfter, { ...garbage, times: 2 }], ["dropAfter", "garbage", "", ""], "all rules count"],
    ] as [ConstructorParameters<typeof FaultSchedule>[0], string[], string][])(
      "%j befalls %j: %s",
      ([plan, expected]) => {
        const schedule = new FaultSchedule(plan);
        schedule.next("folder", []);
        const fresh = new FaultSchedule(plan);
        const befell = expected.map(() => fresh.next("upload", [["filename", "a.pdf"]])?.do ?? "");
        expect(befell).toEqual(expected);
      },
    );

    test("a function sees the operation, its count and the fields", () => {
      const seen: unknown[] = [];
      const schedule = new FaultSchedule((occasion) => void seen.push(occasion));
      schedule.next("upload", [["filename", "a"]]);
      schedule.next("search", []);
      schedule.next("upload", []);
      expect(seen).toEqual([
        { operation: "upload", nth: 1, fields: [["filename", "a"]] },
        { operation: "search", nth: 1, fields: [] },
        { operation: "upload", nth: 2, fields: [] },
      ]);
    });
  });

  /** What a client meets: the reply's status and text, or that the connection broke. */
  async function meet(under: ArchiveUnderTest, filename = "a.txt") {
    try {
      const response = await fetch(under.archive.url + PATHS.upload, {
        method: "POST",
        body: signedUpload({ filename }, Buffer.from("content")),
        redirect: "manual",
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch {
      return { status: 0, headers: new Headers(), text: "" };
    }
  }

  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  describe("what befalls an upload", () => {
    const html = { do: "status", status: 502, stored: false, html: true } as const;
    test.for([
      [{ do: "delay", ms: 20 }, 200, true, true, "late, but all is well"],
      [{ do: "dropBefore" }, 0, false, false, "the connection breaks before storing"],
      [{ do: "dropAfter" }, 0, false, true, "the reply is lost"],
      [
        { do: "status", status: 503, stored: true },
        503,
        false,
        true,
        "a proxy gave up, the archive did not",
      ],
      [{ do: "status", status: 500, stored: false }, 500, false, false, "the archive fell over"],
      [html, 502, false, false, "a proxy's page"],
      [{ do: "truncate" }, 200, false, true, "half a reply"],
      [{ do: "garbage" }, 200, false, true, "no reply of ours"],
      [{ do: "redirect", url: "http://127.0.0.1:9/" }, 307, false, false, "sent elsewhere"],
      [{ do: "early" }, 200, true, false, "an OK before anything was read"],
      [{ do: "wrongDocument" }, 200, true, true, "another document's reply"],
      [{ do: "shorten", bytes: 9 }, 200, true, true, "not all of the file"],
      [{ do: "bomb", bytes: 3_000_000 }, 200, false, true, "a reply that grows"],
      [{ do: "error", code: "ODD", stored: true }, 200, true, true, "it failed once it had stored"],
      [
        { do: "error", code: "ODD", status: 400, stored: false },
        400,
        true,
        false,
        "a code of its own",
      ],
    ] as [FaultAction, number, boolean, boolean, string][])(
      "%j gives status %i, JSON %s, stored %s: %s",
      async ([fault, status, json, stored]) => {
        await using under = await ArchiveUnderTest.open({ faults: [fault] });
        const met = await meet(under);
        expect(met.status).toBe(status);
        expect(isJson(met.text)).toBe(json);
        expect(under.archive.documents()).toHaveLength(stored ? 1 : 0);
        expect((await meet(under)).status).toBe(200);
      },
    );

    test("Retry-After, Location and HTML are as planned", async () => {
      await using under = await ArchiveUnderTest.open();
      under.archive.setFaults([
        { do: "status", status: 429, stored: false, retryAfter: "7" },
        { ...html, nth: 2 },
        { do: "redirect", url: "http://elsewhere.test/x", nth: 3 },
      ]);
      expect((await meet(under)).headers.get("retry-after")).toBe("7");
      const page = await meet(under);
      expect([page.headers.get("content-type"), page.text]).toEqual([
        "text/html",
        expect.stringMatching(/^<html>/),
      ]);
      expect((await meet(under)).headers.get("location")).toBe("http://elsewhere.test/x");
      under.archive.setFaults(undefined);
      expect((await meet(under)).status).toBe(200);
    });

    test("a document that is stored late appears after its connection broke", async () => {
      const clock = new ManualClock();
      const faults = [{ do: "storeLate", ms: 50 }] as const;
      await using under = await ArchiveUnderTest.open({ clock, faults });
      expect((await meet(under)).status).toBe(0);
      expect(under.archive.documents()).toEqual([]);
      await clock.advance(50);
      await under.archive.idle();
      expect(under.archive.documents()).toMatchObject([{ filename: "a.txt", status: "CONVERTED" }]);
    });

    test("who asks learns about every upload when it began, lost its client and was stored", async () => {
      const stored: StoredUpload[] = [];
      const clock = new ManualClock();
      await using under = await ArchiveUnderTest.open({
        clock,
        faults: [{ do: "storeLate", ms: 50 }],
        onStored: (upload) => stored.push(upload),
      });
      await meet(under, "late.txt");
      await meet(under, "at-once.txt");
      await clock.advance(50);
      await under.archive.idle();
      const [late, atOnce] = under.archive
        .documents()
        .toSorted((a, b) => (a.filename < b.filename ? 1 : -1));
      const ofLate = stored.find(({ documentId }) => documentId === late?.id);
      expect((ofLate?.storedAt ?? 0) - (ofLate?.goneAt ?? Infinity)).toBe(50);
      const ofAtOnce = stored.find(({ documentId }) => documentId === atOnce?.id);
      expect(ofAtOnce).toMatchObject({ goneAt: undefined });
      expect(ofAtOnce?.storedAt).toBeGreaterThanOrEqual(ofAtOnce?.begunAt ?? Infinity);
    });

    test("a closing archive still stores what was to be stored late", async () => {
      await using under = await ArchiveUnderTest.open({
        faults: [{ do: "storeLate", ms: 3_600_000 }],
      });
      expect((await meet(under)).status).toBe(0);
      await under.archive.close();
      await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
      expect(again.archive.documents()).toMatchObject([{ filename: "a.txt" }]);
    });

    test("the wrong document is another one's id and name", async () => {
      await using under = await ArchiveUnderTest.open({ faults: [{ do: "wrongDocument" }] });
      const { document } = JSON.parse((await meet(under)).text) as { document: { id: number } };
      expect(document).toMatchObject({ filename: "another.pdf" });
      expect(document.id).not.toBe(under.archive.documents()[0]?.id);
    });

    test("the early OK comes while the file is still being sent", async () => {
      await using under = await ArchiveUnderTest.open({ faults: [{ do: "early" }] });
      const head = signed({ filename: "a" })
        .map(
          ([name, value]) =>
            `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
        )
        .join("");
      const sending = request(under.archive.url + PATHS.upload, {
        method: "POST",
        headers: {
          "content-type": "multipart/form-data; boundary=b",
          "content-length": 10_000_000,
        },
      });
      sending.on("error", () => {});
      sending.write(
        `${head}--b\r\nContent-Disposition: form-data; filename="a"\r\n\r\nfirst bytes`,
      );
      const [response] = await once(sending, "response");
      expect(response.statusCode).toBe(200);
      sending.destroy();
      expect(under.archive.documents()).toEqual([]);
    });

    test("the bomb is small on the wire and large when it is opened", async () => {
      await using under = await ArchiveUnderTest.open({
        faults: [{ do: "bomb", bytes: 5_000_000 }],
      });
      const { port } = new URL(under.archive.url);
      const body = signedForm({}).toString();
      const socket = connect(Number(port), "127.0.0.1");
      const type = "application/x-www-form-urlencoded";
      socket.end(
        `POST ${PATHS.folder} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      const reply = Buffer.concat(await socket.toArray());
      expect(reply.length).toBeLessThan(20_000);
      expect(gunzipSync(reply.subarray(reply.indexOf("\r\n\r\n") + 4)).length).toBeGreaterThan(
        4_999_999,
      );
    });

    test.for([
      ["absent", { paginationPages: 1 }, "left out"],
      ["null", { paginationPages: 1, documents: null }, "null"],
      ["empty", { paginationPages: 2, documents: [] }, "empty, though there are pages"],
    ] as const)("a hollow list is an OK whose list is %s", async ([lists, expected]) => {
      await using under = await ArchiveUnderTest.open();
      await meet(under);
      under.archive.setFaults([{ do: "hollow", lists, on: "documents" }]);
      const ask = async () => {
        const body = signedForm({});
        const response = await fetch(under.archive.url + PATHS.documents, { method: "POST", body });
        return response.json();
      };
      expect(await ask()).toEqual({ response: "OK", paginationSize: 100, ...expected });
      expect(await ask()).toMatchObject({ documents: [{ filename: "a.txt" }] });
    });

    test("a stale list leaves young documents out, and only it", async () => {
      await using under = await ArchiveUnderTest.open();
      const { id } = await under.store("a.txt");
      const stale = { do: "stale", youngerThanMs: 60_000 } as const;
      under.archive.setFaults([
        { ...stale, on: "documents" },
        { ...stale, on: "search" },
      ]);
      for (const operation of ["documents", "search"] as const) {
        expect((await under.ask(operation)).body["documents"]).toEqual([]);
        expect((await under.ask(operation)).body["documents"]).toMatchObject([{ id }]);
      }
    });

    test("a conversion that never comes does not keep the archive from being idle", async () => {
      await using under = await ArchiveUnderTest.open();
      under.archive.setFaults([
        { do: "convert", afterMs: "never" },
        { do: "convert", afterMs: 200, nth: 2 },
      ]);
      await under.store("never.txt");
      const slow = await under.store("slow.txt");
      await under.store("usual.txt");
      await under.archive.idle();
      const states = under.archive.documents().map(({ status }) => status);
      expect(states).toEqual(["UPLOADED", "CONVERTED", "CONVERTED"]);
      const { document } = (await under.ask("document", { id: String(slow.id) })).body as {
        document: { modifiedDate: number; uploadedDate: number };
      };
      expect(document.modifiedDate).toBeGreaterThanOrEqual(document.uploadedDate + 200);
      await under.archive.close();
      await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
      await again.archive.idle();
      expect(again.archive.documents()[0]?.status).toBe("CONVERTED");
    });

    test("a slow reply holds up no other request", async () => {
      await using under = await ArchiveUnderTest.open({ faults: [{ do: "delay", ms: 3_600_000 }] });
      const slow = meet(under);
      const uploads = () => under.archive.requests().upload;
      await expect.poll(uploads).toBe(1);
      expect(outcomeOf(await under.upload({ filename: "b.txt" }))).toBe("OK");
      await under.archive.close();
      expect((await slow).status).toBe(0);
    });
  });
});
