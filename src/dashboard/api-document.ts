/** What is served under `/api/`, as an OpenAPI document: made of the schemas that check the requests. */
import { z } from "zod";

/** One route: how it is asked, and what it answers with. */
export type ApiRoute = {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  /** The parameters in its address. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Media types of its answer; JSON unless it says otherwise. */
  readonly types?: readonly string[];
};

const JSON_TYPE = "application/json";

/** What a form of another page cannot send (`admission.ts`): asked of every request that changes something. */
const DELIBERATE = {
  name: "x-scanferry",
  in: "header",
  required: true,
  schema: { type: "string", const: "1" },
} as const;

const REFUSAL = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "hint"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        hint: { type: "string" },
      },
    },
  },
} as const;

/** The document (OpenAPI 3.1) of these routes; `version` is scanferry's. */
export function apiDocumentOf(routes: readonly ApiRoute[], version: string): object {
  const paths: Record<string, object> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], ...operationOf(route) };
  return {
    openapi: "3.1.0",
    info: {
      title: "scanferry",
      version,
      description:
        "Routes and keys that are there stay within a major version; more may come. Times are epoch milliseconds.",
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Refusal: REFUSAL },
    },
    // On loopback no token is needed unless one is set.
    security: [{ token: [] }, {}],
    paths,
  };
}

function operationOf({ method, path, summary, query, body, types = [JSON_TYPE] }: ApiRoute) {
  const anything = (type: string) => (type === JSON_TYPE ? { type: "object" } : { type: "string" });
  const content = Object.fromEntries(types.map((type) => [type, { schema: anything(type) }]));
  const refused = {
    description: "What is wrong, and what to do.",
    content: { [JSON_TYPE]: { schema: { $ref: "#/components/schemas/Refusal" } } },
  };
  const parameters = [...(method === "post" ? [DELIBERATE] : []), ...parametersOf(query)];
  const operation = {
    operationId: `${method}${path.replace("/api", "").replaceAll(/[/.-](.)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { [JSON_TYPE]: { schema: schemaOf(body) } } },
    }),
    responses: { "200": { description: summary, content }, "4XX": refused, "503": refused },
  };
  return { [method]: operation };
}

function parametersOf(query: z.ZodObject | undefined): object[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}
