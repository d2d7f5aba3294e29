/** The part of the platform's configuration that {@link withEve} reads or writes; everything else passes through. */
export interface WorkspaceConfig {
  readonly services?: Readonly<Record<string, ServiceConfig>>;
  readonly routes?: readonly Route[];
  readonly redirects?: readonly unknown[];
  readonly headers?: readonly unknown[];
  readonly rewrites?: readonly unknown[];
  readonly cleanUrls?: boolean;
  readonly trailingSlash?: boolean;
  readonly [key: string]: unknown;
}

export interface ServiceConfig {
  readonly root: string;
  readonly framework?: string;
  readonly entrypoint?: string;
  readonly devCommand?: string;
  readonly buildCommand?: string;
  readonly bindings?: readonly ServiceBinding[];
  readonly [key: string]: unknown;
}

export interface ServiceBinding {
  readonly type: "service";
  readonly service: string;
  readonly format: "url";
  readonly env: string;
}

export interface Route {
  readonly src?: string;
  readonly handle?: string;
  readonly continue?: boolean;
  readonly status?: number;
  readonly destination?: string | { readonly type: "service"; readonly service: string };
  readonly [key: string]: unknown;
}
