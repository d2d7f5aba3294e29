/** A schema of any library that can write it as JSON Schema (Standard JSON Schema, version 1). */
interface StandardJsonSchema<TOutput> {
  readonly "~standard": {
    readonly types?: { readonly output: TOutput } | undefined;
    readonly jsonSchema: { output(options: { readonly target: "draft-2020-12" }): Readonly<Record<string, unknown>> };
  };
}

export type OutputSchema<TOutput> = StandardJsonSchema<TOutput> | Readonly<Record<string, unknown>>;

/** What is sent of a schema: its JSON Schema. */
export function toJsonSchema(schema: OutputSchema<unknown>): Readonly<Record<string, unknown>> {
  if (!("~standard" in schema)) return schema;
  return (schema as StandardJsonSchema<unknown>)["~standard"].jsonSchema.output({ target: "draft-2020-12" });
}
