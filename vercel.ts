import { withEve } from "eve/vercel";

export default await withEve({
  $schema: "https://openapi.vercel.sh/vercel.json",
});
