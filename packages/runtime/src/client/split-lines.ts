/** Makes lines of the bytes of a response. What has no end yet is kept for the next chunk. */
export function createLineSplitter(): (chunk: Uint8Array) => string[] {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    rest += first;
    if (others.length === 0) return [];
    const lines = [rest, ...others];
    rest = lines.pop()!;
    return lines;
  };
}
