/** The parts of AWS's types for HTTP and schedule functions that have to fit. */
type Values<Value> = Record<string, Value | undefined>;

interface ProxyEvent {
  version: string;
  routeKey: string;
  rawPath: string;
  rawQueryString: string;
  cookies?: string[];
  headers: Values<string>;
  queryStringParameters?: Values<string>;
  requestContext: {
    accountId: string;
    apiId: string;
    domainName: string;
    http: { method: string; path: string; protocol: string; sourceIp: string; userAgent: string };
  };
  body?: string;
  isBase64Encoded: boolean;
}

/** A REST API's and a load balancer's. */
interface OldEvent {
  httpMethod: string;
  path: string;
  body: string | null;
  isBase64Encoded: boolean;
}
interface RestEvent extends OldEvent {
  headers: Values<string> | null;
  multiValueHeaders: Values<string[]> | null;
  queryStringParameters: Values<string> | null;
  multiValueQueryStringParameters: Values<string[]> | null;
  resource: string;
  requestContext: { apiId: string; stage: string; domainName?: string };
}
interface BalancerEvent extends OldEvent {
  requestContext: { elb: { targetGroupArn: string } };
  queryStringParameters?: Values<string>;
  headers?: Values<string>;
  multiValueQueryStringParameters?: Values<string[]>;
  multiValueHeaders?: Values<string[]>;
}

interface OldResult {
  statusCode: number;
  headers?: Record<string, boolean | number | string> | undefined;
  multiValueHeaders?: Record<string, (boolean | number | string)[]> | undefined;
  body: string;
  isBase64Encoded?: boolean | undefined;
}
interface ProxyResult extends Partial<Omit<OldResult, "multiValueHeaders">> {
  cookies?: string[] | undefined;
}

interface Context {
  functionName: string;
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

type Handler<Event, Result> = (
  event: Event,
  context: Context,
  callback: (error?: Error | string | null, result?: Result) => void,
) => void | Promise<Result>;

export type RestHandler = Handler<RestEvent, OldResult>;
export type BalancerHandler = Handler<BalancerEvent, OldResult>;
export type HttpHandler = Handler<ProxyEvent, ProxyResult | string>;
export type ScheduleHandler = Handler<{ id: string; "detail-type": "Scheduled Event"; detail: object }, void>;

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** A request that asks for a path, and no more, in what is not given. */
const whole = (asked: Asked) => ({
  method: "GET",
  query: "",
  headers: {},
  cookies: [],
  isBase64Encoded: false,
  ...asked,
});

const event = (apiId: string, domainName: string, asked: Asked): ProxyEvent => {
  const { method, path, query, headers, cookies, body, isBase64Encoded } = whole(asked);
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    headers,
    ...(cookies.length > 0 && { cookies }),
    ...(body !== undefined && { body }),
    isBase64Encoded,
    requestContext: {
      accountId: "123456789012",
      apiId,
      domainName,
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
    },
  };
};

/** The id of the function URL. */
export const ID = "abcdefghijklmnopqrstuvwxyz012345";

/** As a function URL sends it. */
export const byUrl = (asked: Asked) => event(ID, `${ID}.lambda-url.eu-central-1.on.aws`, asked);

/** As API Gateway does, with the path decoded. */
export const byGateway = (asked: Asked) =>
  event("a1b2c3d4e5", "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com", asked);

const valuesOf = (entries: Iterable<[string, string]>) => {
  const values: Record<string, string[]> = {};
  for (const [name, value] of entries) (values[name] ??= []).push(value);
  return values;
};
const lastOf = (values: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1)]));

/** As a REST API of API Gateway sends it: the parameters decoded, each with all values and with its last one. */
export const byRestApi = (asked: Asked): RestEvent => {
  const { method, path, query, headers, cookies, body, isBase64Encoded } = whole(asked);
  const domainName = "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com";
  const all = valuesOf([
    ["Host", domainName],
    ...Object.entries(headers),
    ...(cookies.length > 0 ? [["Cookie", cookies.join("; ")] as [string, string]] : []),
  ]);
  const parameters = valuesOf(new URLSearchParams(query));
  return {
    resource: "/{proxy+}",
    path,
    httpMethod: method,
    headers: lastOf(all),
    multiValueHeaders: all,
    queryStringParameters: query === "" ? null : lastOf(parameters),
    multiValueQueryStringParameters: query === "" ? null : parameters,
    requestContext: { apiId: "a1b2c3d4e5", stage: "prod", domainName },
    body: body ?? null,
    isBase64Encoded,
  };
};

/** As an Application Load Balancer sends it: the parameters as they are in the URL. */
export const byBalancer = (asked: Asked, multi = false): BalancerEvent => {
  const { method, path, query, headers, cookies, body, isBase64Encoded } = whole(asked);
  const all = valuesOf([
    ["host", "welcome.example.com"],
    ["x-forwarded-proto", "https"],
    ...Object.entries(headers),
    ...(cookies.length > 0 ? [["cookie", cookies.join("; ")] as [string, string]] : []),
  ]);
  const parameters = valuesOf(
    query === "" ? [] : query.split("&").map((part) => part.split("=") as [string, string]),
  );
  return {
    requestContext: {
      elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/a/b" },
    },
    httpMethod: method,
    path,
    ...(multi
      ? { multiValueQueryStringParameters: parameters, multiValueHeaders: all }
      : { queryStringParameters: lastOf(parameters), headers: lastOf(all) }),
    body: body ?? "",
    isBase64Encoded,
  };
};

/** The check of a target group, which has no host. */
export const balancerCheck = (path: string): BalancerEvent => {
  const { headers: _, ...event } = byBalancer({ path });
  return { ...event, headers: { "user-agent": "ELB-HealthChecker/2.0" } };
};
