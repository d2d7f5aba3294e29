import type { Server, Side, StartOptions } from "../servers/server.ts";

/** Servers of every side, all running while a row is measured; stopped whatever happens. */
export async function withServers<T>(
  sides: readonly Side[],
  use: (server: (side: Side) => Server) => Promise<T>,
  { peers = false }: { readonly peers?: boolean } = {},
): Promise<T> {
  const started = new Map<Side, Server>();
  const all: Server[] = [];
  const start = async (side: Side, options?: StartOptions): Promise<Server> => {
    const server = await side.start(options);
    all.push(server);
    return server;
  };
  try {
    for (const side of sides) started.set(side, await start(side, peers ? { peer: await start(side) } : {}));
    return await use((side) => started.get(side)!);
  } finally {
    await Promise.all(all.map((server) => server.stop()));
  }
}
