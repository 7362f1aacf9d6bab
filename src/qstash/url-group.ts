/** A URL group, as `Records` of the kind `url-groups` keep it by its name. */
export interface UrlGroup {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endpoints: readonly UrlGroupEndpoint[];
}

export interface UrlGroupEndpoint {
  readonly url: string;
  readonly name?: string | undefined;
}
