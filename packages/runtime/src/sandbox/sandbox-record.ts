import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

/** What is known of a sandbox without its session. */
const recordSchema = z.object({ provider: z.string() });

export type SandboxRecord = z.infer<typeof recordSchema>;

const FILE = "sandbox.json";

export async function writeRecord(folder: string, record: SandboxRecord): Promise<void> {
  await mkdir(folder, { recursive: true });
  const draft = join(folder, `${FILE}.${randomUUID()}`);
  await writeFile(draft, JSON.stringify(record));
  await rename(draft, join(folder, FILE));
}

/** `undefined`: there is none that can be read. */
export async function readRecord(folder: string): Promise<SandboxRecord | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(join(folder, FILE), "utf8")));
  } catch {
    return undefined;
  }
}
