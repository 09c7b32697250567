import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASSET_FILES, SIGN_IN_PATHS } from "../../../src/dashboard/assets.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { silentLog } from "../../../src/std/log.ts";
import {
  type Answer,
  type Asked,
  ask,
  DELIBERATE,
  openDashboard as open,
} from "./open-dashboard.ts";
import { documentOf } from "./scripted-journal.ts";

const TOKEN = "a-long-token-that-nobody-guesses";

const READS = [
  "/",
  ...ASSET_FILES.filter((file) => !file.endsWith(".html")).map((file) => `/${file}`),
  "/sign-in",
  "/api/status",
  "/api/activity",
  "/api/documents",
  "/api/document?id=1",
  "/api/receipt?batch=batch-1",
  "/api/events",
  "/metrics",
  "/healthz",
  "/readyz",
];
const ACTIONS: [path: string, body: string][] = [
  ["/api/retry", '{"ids":[1]}'],
  ["/api/pause", "{}"],
  ["/api/resume", "{}"],
  ["/api/rescan", "{}"],
];
const ROUTES: Omit<Asked, "port">[] = [
  ...READS.map((path) => ({ path })),
  ...ACTIONS.map(([path, body]) => ({ path, body, method: "POST", headers: DELIBERATE })),
];
const bearer = { authorization: `Bearer ${TOKEN}` };
/** With what the routes ask for. */
const openDashboard = (options: Parameters<typeof open>[0] = {}) =>
  open({ rows: [documentOf({ id: 1, batch: "batch-1" })], ...options });
const OPEN = ["/healthz", "/readyz"];

describe("every route", () => {
  test.for(ROUTES.map((route) => [`${route.method ?? "GET"} ${route.path}`, route] as const))(
    "%s answers its own page",
    async ([, route]) => {
      await using opened = await openDashboard();
      const { status, headers } = await ask({ ...route, port: opened.port });
      expect(status).toBe(200);
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; /);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(opened.asked).toHaveLength(route.method === "POST" ? 1 : 0);
    },
  );

  test.for([
    // headers, refused with, because
    [{ host: "evil.example" }, 421, "another name that points here (DNS rebinding)"],
    [{ host: "127.0.0.1.evil.example" }, 421, "a name that begins like ours"],
    [{ host: "localhost.evil.example" }, 421, "a name that begins like ours"],
    [{ host: "evil.example:8470" }, 421, "the port does not make it ours"],
    [{ host: "192.0.2.1" }, 421, "an address that is not the listener's"],
    [{ host: "user@localhost" }, 421, "no host at all"],
    [{ host: "scanferry:9464", ...bearer }, 421, "where there is no token, each is the right one"],
    [{ origin: "http://evil.example" }, 403, "a page from elsewhere asks"],
    [{ origin: "null" }, 403, "a page without an origin asks (sandboxed frame)"],
    [{ origin: "http://localhost:1" }, 403, "another program's page on this host asks"],
    [{ origin: "http://evil.example/localhost" }, 403, "what is no origin"],
    [{ "sec-fetch-site": "cross-site", origin: "http://evil.example" }, 403, "both tell it"],
  ] as const)("refuses %j with %i: %s", async ([headers, status]) => {
    await using opened = await openDashboard();
    for (const route of ROUTES) {
      const asked = { ...route, headers: { ...route.headers, ...headers }, port: opened.port };
      const answer = await ask(asked);
      // Called by any name, those say that the daemon is well, and nothing of its reasons.
      const isTold = status === 421 && OPEN.includes(route.path);
      expect([route.path, answer.status]).toEqual([route.path, isTold ? 200 : status]);
      expect(answer.body).not.toContain("why");
    }
    expect(opened.asked).toEqual([]);
  });

  test.for([
    ["cross-site", "another site's page asks without an origin (image, script, link)"],
    ["same-site", "another port of this host is another program"],
  ] as const)("refuses sec-fetch-site: %s, but for a link to the page: %s", async ([site]) => {
    await using opened = await openDashboard();
    for (const route of ROUTES) {
      const headers = { ...route.headers, "sec-fetch-site": site };
      const { status } = await ask({ ...route, headers, port: opened.port });
      expect([route.path, status]).toEqual([route.path, route.path === "/" ? 200 : 403]);
    }
    expect(opened.asked).toEqual([]);
  });

  test.for([
    // host, because
    ["localhost", "a name of loopback"],
    ["LOCALHOST:9000", "names have no case, and a tunnel has another port"],
    ["127.0.0.1:8470", "an address of loopback"],
    ["127.8.9.1", "an address of loopback"],
    ["[::1]:8470", "an address of loopback"],
  ] as const)("goes by %s: %s", async ([host]) => {
    await using opened = await openDashboard();
    const { status } = await ask({ path: "/api/status", headers: { host }, port: opened.port });
    expect(status).toBe(200);
  });
});

describe("by the name of a service", () => {
  const host = "scanferry:9464";

  test.for([
    // path, headers, status, because
    ["/metrics", bearer, 200, "a page that was led here has no token"],
    ["/healthz", {}, 200, "it tells nobody why"],
    ["/readyz", {}, 200, "it tells nobody why"],
    ["/metrics", { authorization: "Bearer wrong" }, 401, "a wrong one is told so"],
    ["/metrics", {}, 421, "a page may have been led here"],
    ["/api/status", bearer, 421, "that is of the page"],
    ["/", bearer, 421, "that is the page"],
  ] as const)("%s with %j: %i, %s", async ([path, headers, status]) => {
    const everywhere = { host: "0.0.0.0", port: 0 };
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN });
    const answer = await ask({ port: opened.port, path, headers: { ...headers, host } });
    expect(answer.status).toBe(status);
  });
});

describe("behind a reverse proxy", () => {
  const HOST = "scans.example.com";
  const forwarded = { host: HOST, "x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "https" };

  test("it goes by the proxy's name, and asks everybody for the token", async () => {
    await using opened = await openDashboard({ names: [HOST], token: TOKEN });
    const at = (headers: Record<string, string>, path = "/api/status") =>
      ask({ port: opened.port, path, headers });
    expect((await at(forwarded)).status).toBe(401);
    expect((await at({ ...forwarded, ...bearer })).status).toBe(200);
    expect((await at({ ...forwarded, ...bearer, host: "other.example.com" })).status).toBe(421);
    expect((await at({ ...forwarded, ...bearer, origin: `https://${HOST}` })).status).toBe(200);
    const { headers } = await at(forwarded, `/?token=${TOKEN}`);
    expect(String(headers["set-cookie"])).toMatch(/; SameSite=Lax; Secure$/);
  });

  test("its buttons work from there", async () => {
    await using opened = await openDashboard({ names: [HOST], token: TOKEN });
    const headers = { ...DELIBERATE, ...forwarded, ...bearer, origin: `https://${HOST}` };
    const { status } = await ask({
      port: opened.port,
      path: "/api/pause",
      method: "POST",
      body: "{}",
      headers,
    });
    expect([status, opened.asked]).toEqual([200, ["pause"]]);
  });

  test.for(["forwarded", "x-forwarded-for", "x-real-ip", "via"])(
    "what a proxy hands on (%s) is not from this host: without a token it sees nothing",
    async (header) => {
      await using opened = await openDashboard();
      const headers = { [header]: "for=192.0.2.7" };
      const asked = { port: opened.port, path: "/api/status", headers };
      expect((await ask(asked)).status).toBe(403);
      expect((await ask({ ...asked, path: "/healthz" })).body).toBe('{"healthy":true}\n');
    },
  );
});

test.for(["/", "/healthz", "/readyz", "/metrics", "/api/status", "/api/documents"])(
  "HEAD of %s is answered like GET: monitors ask so",
  async (path) => {
    await using opened = await openDashboard();
    const { status, body } = await ask({ port: opened.port, path, method: "HEAD" });
    expect([status, body]).toEqual([200, ""]);
    const endless = await ask({ port: opened.port, path: "/api/events", method: "HEAD" });
    expect(endless.status).toBe(404);
  },
);

describe("a change", () => {
  test.for([
    // method, headers, refused with, because
    ["GET", {}, 405, "reading changes nothing"],
    ["GET", DELIBERATE, 405, "reading changes nothing, however it is dressed"],
    ["HEAD", DELIBERATE, 405, "reading changes nothing"],
    ["PUT", DELIBERATE, 405, "POST is the one way"],
    ["POST", { "content-type": "application/json" }, 403, "a form can be sent from anywhere"],
    ["POST", { ...DELIBERATE, "x-scanferry": "0" }, 403, "the header says what it must"],
    ["POST", { "x-scanferry": "1" }, 415, "the body is not declared"],
    ["POST", { ...DELIBERATE, "content-type": "text/plain" }, 415, "a form can send that"],
    [
      "POST",
      { ...DELIBERATE, "content-type": "application/x-www-form-urlencoded" },
      415,
      "a form can send that",
    ],
    ["POST", { ...DELIBERATE, "sec-fetch-site": "none" }, 403, "no page of ours asks like that"],
  ] as const)("by %s with %j is refused with %i: %s", async ([method, headers, status]) => {
    await using opened = await openDashboard();
    for (const [path, body] of ACTIONS) {
      const given = method === "POST" ? { body } : {};
      const answer = await ask({ port: opened.port, path, method, headers, ...given });
      expect([path, answer.status]).toEqual([path, status]);
    }
    expect(opened.asked).toEqual([]);
  });

  test.for([
    // path, body, because
    ["/api/retry", "", "ids are missing"],
    ["/api/retry", "{", "not JSON"],
    ["/api/retry", '{"ids":[]}', "nothing to retry"],
    ["/api/retry", '{"ids":["1"]}', "ids are numbers"],
    ["/api/retry", '{"ids":[1.5]}', "ids are whole"],
    ["/api/retry", '{"ids":[1],"all":true}', "unknown keys are errors"],
    ["/api/retry", '{"ids":[1],"anyway":1}', "yes or no"],
    ["/api/retry", '{"state":"held"}', "all that is held, whatever for"],
    ["/api/retry", '{"state":"converted","code":"X"}', "nothing waits in there"],
    ["/api/retry", '{"ids":[1],"state":"held","code":"X"}', "one or the other"],
    [
      "/api/retry",
      JSON.stringify({ ids: Array.from({ length: 1001 }, (_, i) => i + 1) }),
      "too many",
    ],
    ["/api/adopt", '{"documents":[]}', "nothing to link"],
    ["/api/adopt", '{"state":"held","code":"FIRST_RUN"}', "not as they were shown"],
    ["/api/send-as-new", '{"documents":[{"id":1}]}', "whatever its content is by now"],
    [
      "/api/send-as-new",
      JSON.stringify({
        documents: Array.from({ length: 201 }, (_, i) => ({ id: i + 1, digest: "a".repeat(64) })),
      }),
      "too many",
    ],
    ["/api/pause", '{"until":1}', "unknown keys are errors"],
    ["/api/pause", "[]", "not an object"],
  ] as const)("%s with %s is refused: %s", async ([path, body]) => {
    await using opened = await openDashboard();
    const asked = { port: opened.port, path, body, method: "POST", headers: DELIBERATE };
    expect(await ask(asked)).toMatchObject({ status: 400 });
    expect(opened.asked).toEqual([]);
  });

  test("with more than 64 KiB is refused", async () => {
    await using opened = await openDashboard();
    const body = JSON.stringify({ ids: [1], filler: "x".repeat(64 * 1024) });
    const asked = { port: opened.port, path: "/api/retry", body, method: "POST" };
    expect((await ask({ ...asked, headers: DELIBERATE })).status).toBe(413);
    expect(opened.asked).toEqual([]);
  });

  test("of our own page is done", async () => {
    await using opened = await openDashboard();
    const headers = {
      ...DELIBERATE,
      host: `localhost:${opened.port}`,
      origin: `http://localhost:${opened.port}`,
      "sec-fetch-site": "same-origin",
    };
    const body = '{"ids":[3,5,3]}';
    await ask({ port: opened.port, path: "/api/retry", body, method: "POST", headers });
    const anyway = '{"ids":[4],"anyway":true}';
    await ask({ port: opened.port, path: "/api/retry", body: anyway, method: "POST", headers });
    const all = '{"state":"held","code":"FILE_INCOMPLETE"}';
    const asked = { port: opened.port, path: "/api/retry", body: all, method: "POST", headers };
    expect(JSON.parse((await ask(asked)).body)).toEqual({ done: true, documents: 3 });
    const choice = JSON.stringify({ documents: [{ id: 8, digest: "ab".repeat(32) }] });
    for (const path of ["/api/adopt", "/api/send-as-new"]) {
      const answer = await ask({ port: opened.port, path, body: choice, method: "POST", headers });
      expect(JSON.parse(answer.body)).toEqual({ done: true, documents: 1, unclear: 0, changed: 0 });
    }
    await ask({ port: opened.port, path: "/api/pause", method: "POST", headers });
    expect(opened.asked).toEqual([
      "retry 3,5",
      "retry 4 anyway",
      "retry held FILE_INCOMPLETE",
      "adopt 8 abab",
      "sendAsNew 8 abab",
      "pause",
    ]);
  });
});

describe("beyond loopback", () => {
  const everywhere = { host: "0.0.0.0", port: 0 };

  test("without a configured token nothing but health answers, and the fix is told", async () => {
    await using opened = await openDashboard({ listen: everywhere });
    for (const route of [...ROUTES, { path: "/nothing" }]) {
      const { status, body } = await ask({ ...route, port: opened.port });
      expect([route.path, status]).toEqual([route.path, OPEN.includes(route.path) ? 200 : 403]);
      if (status === 403) expect(body).toContain("set `web.listen` to 127.0.0.1");
    }
    expect(opened.asked).toEqual([]);
  });

  test.for([
    // headers, because
    [{}, "no token"],
    [{ authorization: `Bearer ${TOKEN}x` }, "a longer token"],
    [{ authorization: `Bearer ${TOKEN.slice(1)}` }, "a shorter token"],
    [{ authorization: "Bearer" }, "an empty token"],
    [{ authorization: `Basic ${TOKEN}` }, "another scheme"],
    [{ cookie: `scanferry-0=${TOKEN}` }, "the cookie is not the token"],
    [{ cookie: "scanferry-0=" }, "an empty cookie"],
  ] as const)("%j is refused but for health: %s", async ([headers]) => {
    let minutes = 0;
    // Each request comes a minute after the one before: none is slowed.
    const clock = { ...systemClock, monotonic: () => ++minutes * 60_000 };
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN, clock });
    for (const route of ROUTES) {
      const asked = { ...route, headers: { ...route.headers, ...headers }, port: opened.port };
      const { status, body } = await ask(asked);
      const isOpen = [...OPEN, ...SIGN_IN_PATHS].includes(route.path);
      expect([route.path, status]).toEqual([route.path, isOpen ? 200 : 401]);
      expect(body).not.toContain("work is moving");
    }
    expect(opened.asked).toEqual([]);
  });

  test("the token opens every route", async () => {
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN });
    for (const route of ROUTES) {
      const headers = { ...route.headers, authorization: `Bearer ${TOKEN}` };
      const { status } = await ask({ ...route, headers, port: opened.port });
      expect([route.path, status]).toEqual([route.path, 200]);
    }
  });

  test("an address bar with the token gets a cookie, and the cookie opens every route", async () => {
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN });
    const shown = await ask({ port: opened.port, path: `/?token=${TOKEN}` });
    const [cookie = ""] = [shown.headers["set-cookie"]].flat();
    // The address that is shown, and kept in the history, is another.
    expect([shown.status, shown.headers["location"]]).toEqual([303, "/"]);
    expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(TOKEN);
    for (const route of ROUTES) {
      const headers = { ...route.headers, cookie: `other=1; ${cookie.split(";")[0]}` };
      const { status } = await ask({ ...route, headers, port: opened.port });
      expect([route.path, status]).toEqual([route.path, 200]);
    }
  });

  test.for([
    [`/?token=${TOKEN}x`, "a wrong token"],
    ["/?token=", "an empty token"],
    [`/api/status?token=${TOKEN}`, "only the page takes it: addresses are logged by proxies"],
  ] as const)("%s is refused and sets no cookie: %s", async ([path]) => {
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN });
    const { status, headers } = await ask({ port: opened.port, path });
    expect([status, headers["set-cookie"]]).toEqual([401, undefined]);
  });

  test("what the address asks for is kept, without the token", async () => {
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN });
    const path = `/?document=7&token=${TOKEN}&q=a%26b`;
    const { headers } = await ask({ port: opened.port, path });
    expect(headers["location"]).toBe("/?document=7&q=a%26b");
  });

  test("an empty configured token is no token", async () => {
    await using opened = await openDashboard({ listen: everywhere, token: "" });
    expect((await ask({ port: opened.port, path: "/?token=" })).status).toBe(403);
  });

  test.for([
    // host, status, because
    ["192.0.2.7:80", 200, "an address cannot be rebound, and may be a router's"],
    ["evil.example", 421, "a name can be"],
  ] as const)("on every address, called %s: %i, %s", async ([host, status]) => {
    await using opened = await openDashboard({ listen: everywhere, token: TOKEN });
    const headers = { host, authorization: `Bearer ${TOKEN}` };
    expect((await ask({ port: opened.port, path: "/", headers })).status).toBe(status);
  });

  test("a listener on one address of the network is not on loopback", async () => {
    // A host on no network has none but that of all.
    const { address: host } = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === "IPv4" && !one.internal) ?? { address: "0.0.0.0" };
    await using opened = await openDashboard({ listen: { host, port: 0 } });
    expect((await fetch(`${opened.dashboard.url}/api/status`)).status).toBe(403);
  });
});

describe("signing in", () => {
  const session = (port: number, path: string, token?: string, headers = {}) => {
    const body = token === undefined ? "{}" : JSON.stringify({ token });
    return ask({ port, path, method: "POST", body, headers: { ...DELIBERATE, ...headers } });
  };
  const cookieOf = ({ headers }: Answer) => String(headers["set-cookie"]).split(";", 1)[0];

  test.for([
    // method, path, headers, what comes, because
    ["GET", "/", { accept: "text/html,*/*" }, "page", "a person gets a field"],
    ["GET", "/?document=1", { accept: "text/html" }, "page", "a link that was mailed"],
    ["GET", "/api/receipt?batch=b", { accept: "text/html" }, "page", "a receipt's address"],
    ["GET", "/", { accept: "*/*" }, "refusal", "a program gets JSON"],
    ["GET", "/api/status", { accept: "application/json" }, "refusal", "the page's own questions"],
    ["POST", "/api/pause", { ...DELIBERATE, accept: "text/html" }, "refusal", "nobody is asked"],
  ] as const)("%s %s with %j: a %s, %s", async ([method, path, headers, what]) => {
    await using opened = await openDashboard({ token: TOKEN });
    const answer = await ask({ port: opened.port, method, path, headers });
    expect(answer.status).toBe(401);
    expect(answer.headers["content-type"]).toMatch(what === "page" ? /html/ : /json/);
    expect(answer.body).toContain(
      what === "page" ? 'autocomplete="current-password"' : "TOKEN_NEEDED",
    );
  });

  test("with the token it gives a cookie, and signing out takes it", async () => {
    await using opened = await openDashboard({ token: TOKEN });
    const signedIn = await session(opened.port, "/sign-in", TOKEN);
    expect(signedIn).toMatchObject({ status: 200, body: '{"done":true}' });
    const cookie = cookieOf(signedIn);
    const path = "/api/status";
    const { status, body } = await ask({ port: opened.port, path, headers: { cookie } });
    expect([status, JSON.parse(body)]).toMatchObject([200, { signsIn: true }]);
    const out = await session(opened.port, "/sign-out", undefined, { cookie });
    expect(String(out.headers["set-cookie"])).toMatch(/^scanferry-\d+=; Path=\/; Max-Age=0;/);
  });

  test("a session ends when the token is another", async () => {
    await using before = await openDashboard({ token: TOKEN });
    const headers = { cookie: cookieOf(await session(before.port, "/sign-in", TOKEN)) };
    await using after = await openDashboard({ token: `${TOKEN}, rotated` });
    const path = "/api/status";
    expect((await ask({ port: before.port, path, headers })).status).toBe(200);
    expect((await ask({ port: after.port, path, headers })).status).toBe(401);
  });

  test.for([
    // token, headers, status, because
    ["wrong", {}, 401, "it is wrong"],
    [undefined, {}, 400, "there is none"],
    [TOKEN, { "x-scanferry": undefined }, 403, "a form of another page could send it"],
    [TOKEN, { "content-type": "text/plain" }, 415, "the same"],
    [TOKEN, { origin: "https://evil.example" }, 403, "another page signs nobody in"],
  ] as const)("%s with %j is refused with %i: %s", async ([token, headers, status]) => {
    await using opened = await openDashboard({ token: TOKEN });
    const answer = await session(opened.port, "/sign-in", token, headers);
    expect([answer.status, answer.headers["set-cookie"]]).toEqual([status, undefined]);
  });

  test("a cookie that comes with another page's request changes and shows nothing", async () => {
    await using opened = await openDashboard({ token: TOKEN });
    const cookie = cookieOf(await session(opened.port, "/sign-in", TOKEN));
    const site = "cross-site";
    // What browsers send along with `Lax`: a link, which is read and nothing else.
    for (const route of ROUTES) {
      const headers = { ...route.headers, cookie, "sec-fetch-site": site };
      const { status } = await ask({ ...route, headers, port: opened.port });
      expect([route.path, status]).toEqual([route.path, route.path === "/" ? 200 : 403]);
    }
    expect(opened.asked).toEqual([]);
  });

  test("without a token there is nothing to sign in to", async () => {
    await using opened = await openDashboard();
    expect((await session(opened.port, "/sign-in", TOKEN)).status).toBe(404);
  });
});

test("on loopback a configured token is asked for, too", async () => {
  await using opened = await openDashboard({ token: TOKEN });
  expect((await ask({ port: opened.port, path: "/api/status" })).status).toBe(401);
});

test.for([
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-real-ip",
  "x-client-ip",
  "cf-connecting-ip",
  "true-client-ip",
])("a request with %s comes by way of a proxy, and shows nothing without a token", async (name) => {
  await using opened = await openDashboard();
  const asked = { port: opened.port, path: "/api/status", headers: { [name]: "192.0.2.7" } };
  expect(await ask(asked)).toMatchObject({ status: 403 });
});

test("wrong tokens are counted, logged and slowed, and nobody else is", async () => {
  const slept: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) =>
      ms === 1_000 ? void slept.push(ms) : systemClock.sleep(ms, signal),
  };
  const warned: [object, string][] = [];
  const log = { ...silentLog, warn: (...line: [object, string]) => void warned.push(line) };
  await using opened = await openDashboard({ token: TOKEN, clock, log });
  const at = async (path: string, authorization?: string) =>
    (await ask({ port: opened.port, path, headers: { authorization } })).status;
  // Not one of these is a guess.
  for (let n = 0; n < 15; n++) expect(await at("/api/status")).toBe(401);
  for (let n = 0; n < 15; n++) expect(await at("/api/status", "Basic eDp5")).toBe(401);
  expect([slept, warned]).toEqual([[], []]);
  for (let n = 0; n < 3; n++) expect(await at(`/?token=wrong-${n}`)).toBe(401);
  const signIn = { port: opened.port, path: "/sign-in", method: "POST", headers: DELIBERATE };
  for (let n = 0; n < 2; n++)
    expect((await ask({ ...signIn, body: '{"token":"wrong"}' })).status).toBe(401);
  for (let n = 0; n < 5; n++) expect(await at("/api/status", `Bearer wrong-${n}`)).toBe(401);
  expect(slept).toEqual([]);
  expect(await at("/api/status", "Bearer wrong")).toBe(401);
  expect(await at("/healthz")).toBe(200);
  expect(await at("/api/status", `Bearer ${TOKEN}`)).toBe(200);
  expect(slept).toEqual([1_000, 1_000]);
  expect(warned).toEqual([
    [{ code: "TOKEN_WRONG", from: "127.0.0.1" }, expect.stringMatching(/wrong token/)],
    [{ code: "TOKEN_WRONG", from: "127.0.0.1", times: 10 }, expect.stringMatching(/slowed/)],
  ]);
  expect(JSON.stringify(warned)).not.toContain("wrong-0");
});

test("half-open connections, however many, keep nobody from /healthz", async () => {
  await using opened = await openDashboard();
  const sockets = Array.from({ length: 260 }, () => connect(opened.port, "127.0.0.1"));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets) socket.on("error", () => {}).write("GET /healthz HTTP/1.1\r\n");
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (let n = 0; n < 5; n++)
    expect((await ask({ port: opened.port, path: "/healthz" })).status).toBe(200);
});

test.for([
  ["GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "an address that is none"],
  ["nonsense\r\n\r\n", 400, "no HTTP"],
  [`GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "headers that are too long"],
] as const)("%j is refused with %i, and the usual headers: %s", async ([text, status]) => {
  await using opened = await openDashboard();
  const socket = connect(opened.port, "127.0.0.1").setEncoding("utf8");
  let said = "";
  socket.on("data", (part: string) => (said += part)).end(text);
  await once(socket, "close");
  expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(said).toMatch(/content-security-policy: default-src 'none'/);
  expect(said).toMatch(/x-content-type-options: nosniff/);
});
