/** A pattern of paths as an expression: `**` spans folders, `*` and `?` do not, `{a,b}` and `[a-z]` choose. */
export function toPattern(glob: string): RegExp {
  let source = "";
  let open = 0;
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!;
    if (glob.startsWith("**/", at)) {
      source += "(?:[^/]+/)*";
      at += 2;
    } else if (glob.startsWith("**", at)) {
      source += ".*";
      at += 1;
    } else if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "[" && glob.indexOf("]", at + 2) > at) {
      const end = glob.indexOf("]", at + 2);
      const inside = glob
        .slice(at + 1, end)
        .replace(/[\\\]^[]/g, (found, index: number) => (found === "^" && index === 0 ? "^" : `\\${found}`));
      source += `[${inside.replace(/^!/, "^")}]`;
      at = end;
    } else if (character === "{" && glob.includes("}", at)) {
      source += "(?:";
      open++;
    } else if (character === "}" && open > 0) {
      source += ")";
      open--;
    } else if (character === "," && open > 0) source += "|";
    else source += character.replace(/[\\^$.|?*+()[\]{}/]/, "\\$&");
  }
  return new RegExp(`^${source}${")".repeat(open)}$`, "su");
}
