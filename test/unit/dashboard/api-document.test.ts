import fastify from "fastify";
import { expect, test } from "vitest";
import { ACTIONS, addActions } from "../../../src/dashboard/action-routes.ts";
import { addReads, READS, type Sources } from "../../../src/dashboard/read-routes.ts";
import type { Actions } from "../../../src/dashboard/options.ts";
import { silentLog } from "../../../src/std/log.ts";
import { ask, openDashboard } from "./open-dashboard.ts";

test("the document has every route under /api/, and no other", () => {
  const app = fastify();
  const routes: string[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    if (url.startsWith("/api/")) routes.push(`${String(method).toLowerCase()} ${url}`);
  });
  const options = { version: "1", journal: { archive: () => ({}) } };
  addReads(app, { options, assets: [], live: {} } as unknown as Sources);
  addActions(app, { actions: {} as Actions, log: silentLog, done: () => {} });
  const documented = [...READS, ...ACTIONS].map(({ method, path }) => `${method} ${path}`);
  expect(documented.toSorted()).toEqual(
    routes.filter((route) => !route.startsWith("head ")).toSorted(),
  );
});

test("it is served as OpenAPI 3.1, with parameters and bodies as they are checked", async () => {
  await using opened = await openDashboard({});
  const { status, body } = await ask({ port: opened.port, path: "/api/openapi.json" });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({
    openapi: "3.1.0",
    info: { title: "scanferry", version: "0.0.0-test" },
    paths: {
      "/api/documents": {
        get: {
          operationId: "getDocuments",
          parameters: [
            { name: "state", in: "query", required: false },
            { name: "q", schema: { maxLength: 200 } },
            { name: "mirror" },
            { name: "code" },
            { name: "from" },
            { name: "to" },
            { name: "sort" },
            { name: "after" },
            { name: "limit" },
          ],
        },
      },
      "/api/document": { get: { parameters: [{ name: "id", required: true }] } },
      "/api/retry": {
        post: {
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  anyOf: [
                    { required: ["ids"], additionalProperties: false },
                    { required: ["state", "code"], additionalProperties: false },
                  ],
                },
              },
            },
          },
        },
      },
    },
  });
});

test("every POST, and nothing else, is documented with the header without which it is refused", async () => {
  await using opened = await openDashboard({});
  const { body } = await ask({ port: opened.port, path: "/api/openapi.json" });
  type Operation = { parameters?: { name: string; in: string; required: boolean }[] };
  const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, Operation>> };
  const header = { in: "header", required: true, schema: { type: "string", const: "1" } };
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  expect(operations.filter(([method]) => method === "post").length).toBeGreaterThan(5);
  for (const [method, { parameters = [] }] of operations) {
    const found = parameters.filter(({ name }) => name === "x-scanferry");
    expect(found).toEqual(method === "post" ? [{ name: "x-scanferry", ...header }] : []);
  }
});
